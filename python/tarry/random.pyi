from ._tarry.random import *
from ._random import NumPyGenerator as NumPyGenerator, default_rng as default_rng

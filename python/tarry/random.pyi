from ._tarry.random import *

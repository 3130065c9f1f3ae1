from ._tarry.linalg import *

// Elementary functions in float16 and bfloat16: those of float32, rounded once.
#pragma once

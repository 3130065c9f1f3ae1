// float16 and bfloat16: stored as 16 bits, computed in float32, rounded at every op.
#pragma once

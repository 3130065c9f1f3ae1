// Programs that must not compile, one trap per section, and beside each what to write instead, which must.
// scripts/check_traps.py compiles every section alone, as the body of a function, with x, y arrays and k an array of
// bool:  //== name : pattern of the compiler's message;  //== name : compiles

//== logical and of arrays : use_logical_and
if (bool(k && k)) return;
//== logical and of arrays, as meant : compiles
(void)tarry::logical_and(k, k);
//== logical or of arrays : use_logical_or
(void)(k || true);
//== logical or of arrays, as meant : compiles
(void)tarry::logical_or(k, true);
//== keepdims as a positional argument : deleted (function|operator)
(void)tarry::sum(x, true);
//== keepdims as a positional argument, as meant : compiles
(void)tarry::sum(x, {}, {.keepdims = true});
//== an array where a bool is wanted : could not convert|cannot convert|conversion
bool b = x;
//== an array where a bool is wanted, as meant : compiles
bool b = bool(x);
(void)b;
//== an array from a number by assignment : conversion
tarry::Array z = 1.0F;
//== an array from a number, as meant : compiles
tarry::Array z(1.0F);
//== assigning to a part : deleted (function|operator)
x(0) = y;
//== assigning to a part, as meant : compiles
x.set({0}, y(0));
//== assigning a number to a part : deleted (function|operator)|no match|no viable
x(0) = 2.0F;
//== adding to a part : deleted (function|operator)
x(0) += y(0);
//== adding to a part, as meant : compiles
x.add({0}, y(0));
//== adding to a temporary : deleted (function|operator)
(x + y) += y;
//== updating a temporary : passing .* discards|discards qualifiers|deleted (member )?function|as .this. argument
(x + y).set({0}, 1);
//== ignoring a result : ignoring return value|nodiscard
x + y;
//== ignoring the result of a function : ignoring return value|nodiscard
tarry::sqrt(x);
//== ignoring an update of a copy : ignoring return value|nodiscard
tarry::with_set(x, {0}, 1);
//== a vector of a type without a dtype : no tarry dtype for this C.. type|no matching function
(void)tarry::asarray(std::vector<long double>{1});
//== reading as a type without a dtype : no tarry dtype for this C.. type
(void)x.to_vector<long double>();
//== an operand that is text : no match|could not convert|invalid operands
(void)(x + "1");

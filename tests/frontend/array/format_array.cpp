// Arrays as text, against what NumPy 2.4 prints for the same values.
#include <limits>

#include "tests/support/values.h"

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

template <class T>
ab::Array values(std::initializer_list<double> list, std::vector<std::int64_t> sizes) {
  std::vector<T> converted;
  for (double value : list) converted.push_back(static_cast<T>(value));
  return ab::array(converted, sizes);
}

// 0, 1, 2 ... times `step`.
template <class T>
ab::Array counted(double step, std::vector<std::int64_t> sizes) {
  std::vector<T> list(static_cast<std::size_t>(ab::Shape(sizes).size()));
  for (std::size_t i = 0; i < list.size(); ++i)
    list[i] = static_cast<T>(static_cast<double>(i) * step);
  return ab::array(list, sizes);
}

struct Row {
  const char* name;
  ab::Array array;
  const char* text;
};

TEST(FormatArray, PrintsAsNumpyDoes) {
  const Row rows[] = {
      {"rank 0", values<float>({0x1.8000000000000p+0}, {}), "1.5"},
      {"rank 0 whole", values<double>({3}, {}), "3.0"},
      {"rank 0 third", values<double>({0x1.5555555555555p-2}, {}), "0.3333333333333333"},
      {"rank 0 third f32", values<float>({0x1.5555560000000p-2}, {}), "0.33333334"},
      {"rank 0 large f32", values<float>({1234567}, {}), "1.234567e+06"},
      {"rank 0 large", values<double>({0x1.1c37937e08000p+53}, {}), "1e+16"},
      {"rank 0 small", values<double>({0x1.421f5f40d8376p-23}, {}), "1.5e-07"},
      {"rank 0 int", values<std::int64_t>({-7}, {}), "-7"},
      {"rank 0 bool", values<bool>({true}, {}), "True"},
      {"rank 0 half", values<ab::Float16>({0x1.9980000000000p-4}, {}), "0.1"},
      {"integers", values<std::int32_t>({1, -20, 300}, {3}), "[  1 -20 300]"},
      {"unsigned", ab::array<std::uint64_t>({0, std::numeric_limits<std::uint64_t>::max()}),
       "[                   0 18446744073709551615]"},
      {"bools", values<bool>({true, false, false, true}, {2, 2}),
       "[[ True False]\n"
       " [False  True]]"},
      {"plain floats", values<float>({1, 0x1.4000000000000p+1, -0x1.a000000000000p+1}, {3}),
       "[ 1.    2.5  -3.25]"},
      {"thirds", values<float>({0x1.5555560000000p-2, 0x1.5555560000000p-1, 1}, {3}),
       "[0.33333334 0.6666667  1.        ]"},
      {"thirds f64", values<double>({0x1.5555555555555p-2, 0x1.5555555555555p-1, 1}, {3}),
       "[0.33333333 0.66666667 1.        ]"},
      {"cut at eight", values<double>({0x1.3333333333334p-2, 0x1.edd3c07fb4c69p+6}, {2}),
       "[  0.3        123.45678901]"},
      {"whole floats", values<double>({1, 2, 30}, {3}), "[ 1.  2. 30.]"},
      {"mixed magnitudes", values<float>({0x1.4f8b580000000p-17, 1, 1000}, {3}),
       "[1.e-05 1.e+00 1.e+03]"},
      {"wide ratio", values<double>({0x1.0624dd2f1a9fcp-10, 2}, {2}), "[1.e-03 2.e+00]"},
      {"just fits", values<double>({0x1.47ae147ae147bp-7, 10}, {2}), "[ 0.01 10.  ]"},
      {"large", values<double>({100000000, 250000000}, {2}), "[1.0e+08 2.5e+08]"},
      {"large f32", values<float>({1000000, 1}, {2}), "[1.e+06 1.e+00]"},
      {"tiny", values<double>({0x1.56e1fc2f8f359p-997, 1}, {2}), "[1.e-300 1.e+000]"},
      {"three exponent digits",
       values<double>({0x1.bff2ee48e0530p-333, 0x1.249ad2594c37dp+333, 3}, {3}),
       "[1.e-100 2.e+100 3.e+000]"},
      {"not finite", values<double>({0x1.8000000000000p+0, nan, inf, -inf}, {4}),
       "[ 1.5  nan  inf -inf]"},
      {"only nan", values<double>({nan, nan}, {2}), "[nan nan]"},
      {"only inf", values<float>({-inf, inf}, {2}), "[-inf  inf]"},
      {"nan and big", values<double>({nan, 0x1.81cd6c8b43958p+13}, {2}), "[      nan 12345.678]"},
      {"nan and exponent", values<double>({nan, 0x1.12e0be826d695p-30}, {2}), "[   nan 1.e-09]"},
      {"halves", values<ab::Float16>({0x1.9980000000000p-4, 0x1.9980000000000p-3, 65504}, {3}),
       "[1.00e-01 2.00e-01 6.55e+04]"},
      {"halves small", values<ab::Float16>({0x1.9980000000000p-4, 0x1.0000000000000p-2, 3}, {3}),
       "[0.1  0.25 3.  ]"},
      {"negative zero", values<double>({-0x0.0p+0, 0}, {2}), "[-0.  0.]"},
      {"zeros", values<float>({0, 0, 0}, {3}), "[0. 0. 0.]"},
      {"random walk",
       values<float>({0x1.f9add40000000p-4, -0x1.3c0ca20000000p+0, 0x1.8b0fcc0000000p+3}, {3}),
       "[ 0.12345679 -1.2345678  12.345678  ]"},
      {"exponent digits f32", values<float>({0x1.99999a0000000p-4, 0x1.535aee0000000p-30}, {2}),
       "[1.000000e-01 1.234567e-09]"},
      {"three axes", values<std::int64_t>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {2, 3, 2}),
       "[[[ 0  1]\n"
       "  [ 2  3]\n"
       "  [ 4  5]]\n"
       "\n"
       " [[ 6  7]\n"
       "  [ 8  9]\n"
       "  [10 11]]]"},
      {"four axes", values<float>({0, 1, 2, 3, 4, 5, 6, 7}, {2, 1, 2, 2}),
       "[[[[0. 1.]\n"
       "   [2. 3.]]]\n"
       "\n"
       "\n"
       " [[[4. 5.]\n"
       "   [6. 7.]]]]"},
      {"empty", values<double>({}, {0}), "[]"},
      {"empty rows", values<double>({}, {2, 0}), "[]"},
      {"long line", counted<std::int64_t>(1000, {40}),
       "[    0  1000  2000  3000  4000  5000  6000  7000  8000  9000 10000 11000\n"
       " 12000 13000 14000 15000 16000 17000 18000 19000 20000 21000 22000 23000\n"
       " 24000 25000 26000 27000 28000 29000 30000 31000 32000 33000 34000 35000\n"
       " 36000 37000 38000 39000]"},
      {"long line floats", counted<float>(1.0 / 7, {30}),
       "[0.         0.14285715 0.2857143  0.42857143 0.5714286  0.71428573\n"
       " 0.85714287 1.         1.1428572  1.2857143  1.4285715  1.5714285\n"
       " 1.7142857  1.8571428  2.         2.142857   2.2857144  2.4285715\n"
       " 2.5714285  2.7142856  2.857143   3.         3.142857   3.2857144\n"
       " 3.4285715  3.5714285  3.7142856  3.857143   4.         4.142857  ]"},
      {"summary", counted<std::int64_t>(1, {1001}), "[   0    1    2 ...  998  999 1000]"},
      {"summary of floats", counted<float>(0.125, {2000}),
       "[0.00000e+00 1.25000e-01 2.50000e-01 ... 2.49625e+02 2.49750e+02\n"
       " 2.49875e+02]"},
      {"summary of rows", counted<std::int64_t>(1, {300, 4}),
       "[[   0    1    2    3]\n"
       " [   4    5    6    7]\n"
       " [   8    9   10   11]\n"
       " ...\n"
       " [1188 1189 1190 1191]\n"
       " [1192 1193 1194 1195]\n"
       " [1196 1197 1198 1199]]"},
      {"summary of columns", counted<std::int64_t>(1, {4, 300}),
       "[[   0    1    2 ...  297  298  299]\n"
       " [ 300  301  302 ...  597  598  599]\n"
       " [ 600  601  602 ...  897  898  899]\n"
       " [ 900  901  902 ... 1197 1198 1199]]"},
      {"summary of both", counted<std::int64_t>(1, {100, 100}),
       "[[   0    1    2 ...   97   98   99]\n"
       " [ 100  101  102 ...  197  198  199]\n"
       " [ 200  201  202 ...  297  298  299]\n"
       " ...\n"
       " [9700 9701 9702 ... 9797 9798 9799]\n"
       " [9800 9801 9802 ... 9897 9898 9899]\n"
       " [9900 9901 9902 ... 9997 9998 9999]]"},
      {"summary of blocks", counted<std::int64_t>(1, {2, 8, 96}),
       "[[[   0    1    2 ...   93   94   95]\n"
       "  [  96   97   98 ...  189  190  191]\n"
       "  [ 192  193  194 ...  285  286  287]\n"
       "  ...\n"
       "  [ 480  481  482 ...  573  574  575]\n"
       "  [ 576  577  578 ...  669  670  671]\n"
       "  [ 672  673  674 ...  765  766  767]]\n"
       "\n"
       " [[ 768  769  770 ...  861  862  863]\n"
       "  [ 864  865  866 ...  957  958  959]\n"
       "  [ 960  961  962 ... 1053 1054 1055]\n"
       "  ...\n"
       "  [1248 1249 1250 ... 1341 1342 1343]\n"
       "  [1344 1345 1346 ... 1437 1438 1439]\n"
       "  [1440 1441 1442 ... 1533 1534 1535]]]"},
      {"summary of bools", (counted<std::int32_t>(1, {1100}) % 3 == 0),
       "[ True False False ... False  True False]"},
      {"no summary yet",
       values<std::int64_t>(
           {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23},
           {6, 4}),
       "[[ 0  1  2  3]\n"
       " [ 4  5  6  7]\n"
       " [ 8  9 10 11]\n"
       " [12 13 14 15]\n"
       " [16 17 18 19]\n"
       " [20 21 22 23]]"},
  };
  for (const Row& row : rows) EXPECT_EQ(ab::to_string(row.array), row.text) << row.name;
}

TEST(FormatArray, TracedArraysPrintTheirPlaceInTheTrace) {
  std::string text;
  ab::trace(
      [&](ab::Array x) {
        text = ab::to_string(ab::tanh(x));
        return x;
      },
      ab::spec(ab::f32, {3}));
  EXPECT_NE(text.find("<f32[3] traced as %1, from format_array.cpp:"), text.npos) << text;
  EXPECT_EQ(ab::to_string(ab::Array()), "<empty>");
}

}  // namespace

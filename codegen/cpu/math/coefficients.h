// Coefficients of minimax polynomials, lowest degree first. Written by tools/minimax.py; do not
// edit.
#pragma once

#include "codegen/cpu/math/value.h"

namespace anabranch::cpu::math::coefficients {
// clang-format off

inline constexpr double exponential_f32[] = {
    0x1.fffffe0000000p-2, 0x1.5554b00000000p-3, 0x1.5557180000000p-5, 0x1.1227b20000000p-7,
    0x1.6b71720000000p-10,
};
inline constexpr double exponential_f64[] = {
    0x1.0000000000005p-1, 0x1.555555555553fp-3, 0x1.5555555552100p-5, 0x1.11111111177f7p-7,
    0x1.6c16c17f348edp-10, 0x1.a01a017d7dd1ep-13, 0x1.a019a68b51ff3p-16, 0x1.71de748a7e92cp-19,
    0x1.28a2a9e4058c9p-22, 0x1.ae8b6e3f3c46ap-26,
};
/// e^r = 1 + r + r^2 p(r), |r| <= ln(2) / 2
inline constexpr Coefficients exponential{exponential_f32, exponential_f64};

inline constexpr double exponential_minus_one_f32[] = {
    0x1.0000040000000p-1, 0x1.5554e60000000p-3, 0x1.5546cc0000000p-5, 0x1.11e7a40000000p-7,
    0x1.7e8fcc0000000p-10,
};
inline constexpr double exponential_minus_one_f64[] = {
    0x1.0000000000000p-1, 0x1.5555555555553p-3, 0x1.55555555555d1p-5, 0x1.1111111111f91p-7,
    0x1.6c16c16bc367ep-10, 0x1.a01a0199ec168p-13, 0x1.a01a04084f040p-16, 0x1.71de42a1978e6p-19,
    0x1.27dd8542cb530p-22, 0x1.aeb19a15bfd93p-26, 0x1.2fac9366b8dd3p-29,
};
/// e^r - 1 = r + r^2 p(r), log(3/4) <= r <= log(3/2)
inline constexpr Coefficients exponential_minus_one{exponential_minus_one_f32, exponential_minus_one_f64};

inline constexpr double hyperbolic_tangent_f32[] = {
    -0x1.55553e0000000p-2, 0x1.1105ec0000000p-3, -0x1.b6c5da0000000p-5, 0x1.330e2a0000000p-6,
};
inline constexpr double hyperbolic_tangent_f64[] = {
    -0x1.555555555553fp-2, 0x1.111111110e50ap-3, -0x1.ba1ba1b660060p-5, 0x1.664f4744c3069p-6,
    -0x1.226df96698719p-7, 0x1.d6c61c3e52a9ap-9, -0x1.7caae20d59dcfp-10, 0x1.2a9b38f32482bp-11,
    -0x1.6e1afb1c66c92p-13,
};
/// tanh x = x + x^3 p(x^2), |x| <= 0.4
inline constexpr Coefficients hyperbolic_tangent{hyperbolic_tangent_f32, hyperbolic_tangent_f64};

inline constexpr double hyperbolic_sine_f32[] = {
    0x1.5555560000000p-3, 0x1.110fe00000000p-7, 0x1.a293b40000000p-13,
};
inline constexpr double hyperbolic_sine_f64[] = {
    0x1.5555555555555p-3, 0x1.111111111130fp-7, 0x1.a01a019f0f9fep-13, 0x1.71de3e49fcb21p-19,
    0x1.ae564d4b0e731p-26, 0x1.743c4dd473ef9p-33,
};
/// sinh r = r + r^3 p(r^2), |r| <= ln(2) / 2
inline constexpr Coefficients hyperbolic_sine{hyperbolic_sine_f32, hyperbolic_sine_f64};

inline constexpr double hyperbolic_cosine_f32[] = {
    0x1.0000000000000p-1, 0x1.5554e40000000p-5, 0x1.6d51600000000p-10,
};
inline constexpr double hyperbolic_cosine_f64[] = {
    0x1.0000000000000p-1, 0x1.5555555555558p-5, 0x1.6c16c16c15005p-10, 0x1.a01a01ad7a6eap-16,
    0x1.27e4cc1d18310p-22, 0x1.1f8bc7e837338p-29,
};
/// cosh r = 1 + r^2 p(r^2), |r| <= ln(2) / 2
inline constexpr Coefficients hyperbolic_cosine{hyperbolic_cosine_f32, hyperbolic_cosine_f64};

inline constexpr double exponential_2_f64[] = {
    0x1.62e430d058937p-1, 0x1.ebfbe0b4f663cp-3, 0x1.c6aecbf623d8ap-5, 0x1.3b29c2ac917f4p-7,
    0x1.5f4905d8678adp-10, 0x1.447f65dc6399bp-13,
};
/// 2^t = 1 + t p(t) to 2^-29, |t| <= 1/2 (power of f32)
inline constexpr Coefficients exponential_2{{}, exponential_2_f64};

inline constexpr double log_f32[] = {
    0x1.5555040000000p-2, -0x1.ffff0c0000000p-3, 0x1.99d1120000000p-3, -0x1.55994e0000000p-3,
    0x1.1eca5a0000000p-3, -0x1.f386160000000p-4, 0x1.1e9ea40000000p-3, -0x1.07141c0000000p-3,
};
inline constexpr double log_f64[] = {
    0x1.5555555555543p-2, -0x1.000000000096cp-2, 0x1.999999999e689p-3, -0x1.555555540bb65p-3,
    0x1.249249216db07p-3, -0x1.00000085fb0e3p-3, 0x1.c71c73ba22f6ep-4, -0x1.999961ea4ef64p-4,
    0x1.745cc0658d0c1p-4, -0x1.555c0ab31ab65p-4, 0x1.3b1ce64cf82b7p-4, -0x1.2413a36ece681p-4,
    0x1.10738d8bec75bp-4, -0x1.05c6924f1e4abp-4, 0x1.ef284df530fffp-5, -0x1.769fadd0e04d3p-5,
    0x1.588b3c63117d4p-5, -0x1.614fbc51d5bc7p-4, 0x1.59f350a086282p-4,
};
/// log(1 + f) = f - f^2 / 2 + f^3 p(f), |f| <= 1/3
inline constexpr Coefficients log{log_f32, log_f64};

inline constexpr double log_2_f64[] = {
    0x1.71547652bc293p+0, -0x1.71547652ecf71p-1, 0x1.ec709d8d4f3b2p-2, -0x1.715475c67a5a0p-2,
    0x1.2776e349354b5p-2, -0x1.ec7108bed73fdp-3, 0x1.a60ad1bcbdfdap-3, -0x1.71429b74498c9p-3,
    0x1.498746726ae42p-3, -0x1.28fa90382b1cdp-3, 0x1.f9bda8de5b4a2p-4, -0x1.c9c747f6ad609p-4,
    0x1.4334dec3557c8p-3, -0x1.342f8e3da3469p-3,
};
/// log2(1 + f) = f p(f) to 2^-37, |f| <= 1/3 (power of f32)
inline constexpr Coefficients log_2{{}, log_2_f64};

inline constexpr double log_quotient_f64[] = {
    0x1.9999999999967p-3, 0x1.2492492498f15p-3, 0x1.c71c71bc4eecdp-4, 0x1.745d1bd151ba5p-4,
    0x1.3b12963c77f63p-4, 0x1.113a5587a1ec0p-4, 0x1.dac940e551133p-5, 0x1.01938ad70905cp-4,
};
/// log((1 + s) / (1 - s)) = 2 (s + s^3 (1/3 + s^2 p(s^2))), |s| <= 1/5 (power of f64)
inline constexpr Coefficients log_quotient{{}, log_quotient_f64};

inline constexpr double inverse_hyperbolic_tangent_f32[] = {
    0x1.5555580000000p-2, 0x1.9996c80000000p-3, 0x1.2508180000000p-3, 0x1.b6d2140000000p-4,
    0x1.f228d60000000p-4,
};
inline constexpr double inverse_hyperbolic_tangent_f64[] = {
    0x1.5555555555555p-2, 0x1.9999999999aafp-3, 0x1.24924924878dep-3, 0x1.c71c71ce1f041p-4,
    0x1.745d15e2fdd94p-4, 0x1.3b13dee17c184p-4, 0x1.110d17ca62148p-4, 0x1.e25bc9bd3c32cp-5,
    0x1.aa238100921e4p-5, 0x1.a9977c55f73c1p-5, 0x1.8b0b118b9ff94p-6, 0x1.65b6b15084e03p-4,
};
/// atanh g = g + g^3 p(g^2), |g| <= 0.335
inline constexpr Coefficients inverse_hyperbolic_tangent{inverse_hyperbolic_tangent_f32, inverse_hyperbolic_tangent_f64};

inline constexpr double sine_f32[] = {
    -0x1.55554c0000000p-3, 0x1.110ed80000000p-7, -0x1.9f70540000000p-13, 0x1.5dbdd00000000p-19,
};
inline constexpr double sine_f64[] = {
    -0x1.5555555555555p-3, 0x1.11111111110c8p-7, -0x1.a01a01a014d59p-13, 0x1.71de3a529f70fp-19,
    -0x1.ae6454d3981a3p-26, 0x1.6123ccbf04f71p-33, -0x1.ae436da88d012p-41, 0x1.882fe02355d04p-49,
};
/// sin r = r + r^3 p(r^2), |r| <= pi / 2
inline constexpr Coefficients sine{sine_f32, sine_f64};

inline constexpr double tangent_f32[] = {
    0x1.5555620000000p-2, 0x1.110d2c0000000p-3, 0x1.baebd40000000p-5, 0x1.5c12cc0000000p-6,
    0x1.6628dc0000000p-7, -0x1.d5ce740000000p-16, 0x1.2290c60000000p-8,
};
inline constexpr double tangent_f64[] = {
    0x1.55555555554e4p-2, 0x1.11111111191a9p-3, 0x1.ba1ba1b3bb5e2p-5, 0x1.664f49c93ee39p-6,
    0x1.226e0ec14f24dp-7, 0x1.d6d9b5216b402p-9, 0x1.7d553cf665235p-10, 0x1.382df096aa97cp-11,
    0x1.d013c5347133ap-13, 0x1.2305c079e7876p-13, -0x1.efbfc89fd596dp-16, 0x1.83610d1030ecdp-14,
    -0x1.859c133e238e3p-15, 0x1.645afbf95555ap-16,
};
/// tan r = r + r^3 p(r^2), |r| <= pi / 4
inline constexpr Coefficients tangent{tangent_f32, tangent_f64};

inline constexpr double arc_sine_f32[] = {
    0x1.55554c0000000p-3, 0x1.3338a00000000p-4, 0x1.6caa420000000p-5, 0x1.04b3cc0000000p-5,
    0x1.d743ea0000000p-7, 0x1.33f2300000000p-5,
};
inline constexpr double arc_sine_f64[] = {
    0x1.5555555555577p-3, 0x1.333333332e116p-4, 0x1.6db6db7214884p-5, 0x1.f1c71a93e603ap-6,
    0x1.6e8bdf03c8200p-6, 0x1.1c49ed8243990p-6, 0x1.ca1fd98f25ea9p-7, 0x1.7582e1acfe9eep-7,
    0x1.614c96d7fe90ap-7, 0x1.e4f2ef56d9467p-9, 0x1.63efbe8b123a2p-6, -0x1.58799b824578dp-6,
    0x1.0b6f6a57aea4fp-5,
};
/// asin r = r + r^3 p(r^2), |r| <= 1/2
inline constexpr Coefficients arc_sine{arc_sine_f32, arc_sine_f64};

inline constexpr double arc_tangent_f32[] = {
    -0x1.55553e0000000p-2, 0x1.9991ea0000000p-3, -0x1.2420f80000000p-3, 0x1.c092b00000000p-4,
    -0x1.5820280000000p-4, 0x1.da867a0000000p-5, -0x1.fe4ee60000000p-6, 0x1.651d940000000p-7,
    -0x1.d5401a0000000p-10,
};
inline constexpr double arc_tangent_f64[] = {
    -0x1.5555555555525p-2, 0x1.99999999954b6p-3, -0x1.249249237c557p-3, 0x1.c71c717f33776p-4,
    -0x1.745d11a4ae42dp-4, 0x1.3b1366309dd7bp-4, -0x1.110e4dfdcbe7bp-4, 0x1.e1bb82bd9acc0p-5,
    -0x1.ae5ddabbb44d8p-5, 0x1.82d8e64f3eae5p-5, -0x1.599f105a1d212p-5, 0x1.2c249597d6514p-5,
    -0x1.e9dbc6007c621p-6, 0x1.6818571a93550p-6, -0x1.c74c5ae0ee03bp-7, 0x1.d75b1d3b26377p-8,
    -0x1.79da177464417p-9, 0x1.b37579b198512p-11, -0x1.3ec4020e121b6p-13, 0x1.bb383406272b0p-17,
};
/// atan r = r + r^3 p(r^2), |r| <= 1
inline constexpr Coefficients arc_tangent{arc_tangent_f32, arc_tangent_f64};

inline constexpr double erf_central_f32[] = {
    0x1.06eba80000000p-3, -0x1.81273e0000000p-2, 0x1.ce2cf20000000p-4, -0x1.b7f88c0000000p-6,
    0x1.5401700000000p-8, -0x1.a3d7ea0000000p-11, 0x1.4916e20000000p-14,
};
inline constexpr double erf_central_f64[] = {
    0x1.06eba8214db69p-3, -0x1.812746b0379fdp-2, 0x1.ce2f21a043613p-4, -0x1.b82ce312ab27fp-6,
    0x1.565bcd1272f10p-8, -0x1.c02db49342d3cp-11, 0x1.f9a33443594b7p-14, -0x1.f4d3202b69370p-17,
    0x1.b9ed94a7a683ap-20, -0x1.5f8f765cbd50cp-23, 0x1.fc19e76d4c4adp-27, -0x1.45518724c5550p-30,
    0x1.2654af857e9ebp-34,
};
/// erf x = x + x p(x^2), |x| <= 1
inline constexpr Coefficients erf_central{erf_central_f32, erf_central_f64};

inline constexpr double log_erfc_f32[] = {
    -0x1.575b320000000p+2, -0x1.1ac3220000000p+2, -0x1.d8f5d40000000p-1, -0x1.0dd8400000000p-6,
    0x1.d3121c0000000p-9, -0x1.7eac7a0000000p-11, 0x1.2ee2840000000p-13, -0x1.3422c40000000p-16,
};
inline constexpr double log_erfc_f64[] = {
    -0x1.f3a2dc8691b93p+2, -0x1.56925248da96ep+2, -0x1.e3460a18c5861p-1, -0x1.63cc1da6f72a7p-7,
    0x1.1bd558f4959a8p-9, -0x1.b961399b84233p-12, 0x1.43172b7dcbfccp-14, -0x1.ac03f836bd0d3p-17,
    0x1.dadee143cfc83p-20, -0x1.4ec9e69b883f7p-23, -0x1.b1e0cb895de60p-27, 0x1.74b964fdf44bbp-27,
    -0x1.e65a6c6899a37p-29, 0x1.e45830166066bp-31, -0x1.2d90cd287c098p-33, 0x1.2ce7a2410a6cep-36,
    -0x1.3eba266d9d8e6p-37, -0x1.7bea9d4de74c1p-41, 0x1.2caf30326ec2bp-40,
};
/// log(erfc(x)) = p(x - 2), 1 <= x <= 4 (f32); p(x - 2.5), 1 <= x <= 5.95 (f64)
inline constexpr Coefficients log_erfc{log_erfc_f32, log_erfc_f64};

inline constexpr double erf_inv_central_f32[] = {
    0x1.00b8ba0000000p-1, 0x1.f91e8c0000000p-3, -0x1.11c4bc0000000p-8, -0x1.4867320000000p-10,
    0x1.c9e4d40000000p-13, -0x1.4c6eb00000000p-18, -0x1.d0babe0000000p-19, 0x1.f230800000000p-22,
    0x1.8f921a0000000p-26, -0x1.2850e60000000p-27,
};
inline constexpr double erf_inv_central_f64[] = {
    0x1.00b8b9f9dbde9p-1, 0x1.f91e8993f0d13p-3, -0x1.11c3c302dfbcep-8, -0x1.4863cdfb610d8p-10,
    0x1.c9b437ed19a05p-13, -0x1.4f47fe746e28dp-18, -0x1.ca9227c3f7334p-19, 0x1.01037e4c82f3fp-21,
    0x1.ccff6dcfa9563p-27, -0x1.752fdf5d5f9cbp-27, 0x1.f2cbdc4752c99p-31, 0x1.07058a35628fdp-33,
    -0x1.11968c34e6c5ep-35, 0x1.006cdf1846b3dp-40, 0x1.2d9cf6ce26092p-41, -0x1.562d3ddcff91dp-44,
    -0x1.a259ec6c31569p-49, 0x1.0da133fe61bdep-49, -0x1.3603ffd75a06dp-53, -0x1.ba7c331c84aa1p-56,
    0x1.6115a1f136b54p-58, -0x1.624486dbc96dep-67, -0x1.36baad8419f85p-64, 0x1.76164f02e63afp-68,
};
/// erf_inv(x) = x + x p(w - 2.5), w = -log(1 - x^2) <= 5.76 (f32: 5)
inline constexpr Coefficients erf_inv_central{erf_inv_central_f32, erf_inv_central_f64};

inline constexpr double erf_inv_tail_f32[] = {
    -0x1.566be40000000p-3, 0x1.5d00a00000000p-9, 0x1.c066100000000p-8, -0x1.c418000000000p-9,
    0x1.2e79f60000000p-10, -0x1.b2dbde0000000p-13, -0x1.0d485a0000000p-14, 0x1.6fa66c0000000p-15,
};
inline constexpr double erf_inv_tail_f64[] = {
    -0x1.566be9baa6255p-3, 0x1.5cf6bc26d2791p-9, 0x1.c0820afc7d067p-8, -0x1.c38c06b746786p-9,
    0x1.2b7b99ad200bep-10, -0x1.cfecf0ba0f748p-13, -0x1.32cc710ee3251p-15, 0x1.d490793a84d08p-15,
    -0x1.9421996ec7b9dp-16, 0x1.566b40374a8c7p-19, 0x1.a69a9ea9e2c9ap-19, -0x1.0e102010326e2p-19,
    0x1.960032c87e8fep-22, 0x1.9954a4afa8df8p-23, -0x1.4f3360d247f09p-23, 0x1.3d48c1410b25ap-25,
    0x1.73f0b362c4239p-27, -0x1.666f26b555263p-27, 0x1.533f16ba61ab2p-29,
};
/// erf_inv(x) = v + p(v - 3), v = sqrt(w) <= 3.8 (f32: 4)
inline constexpr Coefficients erf_inv_tail{erf_inv_tail_f32, erf_inv_tail_f64};

inline constexpr double erf_inv_far_tail_f64[] = {
    -0x1.38acfe37dde87p-3, 0x1.524ee707ea67bp-7, 0x1.c8545cd1894fep-15, -0x1.3fa760cc55769p-12,
    0x1.b9e8f779309d1p-14, -0x1.d35782c16507ap-16, 0x1.b8e312c5407d9p-18, -0x1.83fe1fb262cd6p-20,
    0x1.427007b842784p-22, -0x1.f0c6f7187eee6p-25, 0x1.3e115e545dc5fp-27, -0x1.1466e656b891dp-31,
    -0x1.34dac3df5c5adp-31, 0x1.b35f17a0d23edp-32, -0x1.939693d0fa9eap-33, 0x1.13e2173b277d2p-34,
    -0x1.9f685455414a8p-37, -0x1.dfc58c4f2d0aep-42, 0x1.04622b1e6f40ap-41,
};
/// erf_inv(x) = v + p(v - 4.75), 3.8 <= v <= 6.01
inline constexpr Coefficients erf_inv_far_tail{{}, erf_inv_far_tail_f64};

// clang-format on
}  // namespace anabranch::cpu::math::coefficients

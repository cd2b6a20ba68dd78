// Coefficients of the special functions' polynomials, lowest degree first. Written by
// tools/special_coefficients.py; do not edit.
#pragma once

namespace anabranch::coefficients {
// clang-format off

/// (1 + 2x) e^(x^2) erfc(x) of (x - 3.75) / (x + 3.75), x >= 0
inline constexpr double erfcx_scaled[] = {
    0x1.3ccda0b5d5dc2p+0, -0x1.1f367683f89a5p-3, 0x1.d5f2948159e20p-9, 0x1.510169d096658p-4,
    -0x1.bda9309a28be0p-4, 0x1.7a14188a9ce86p-4, -0x1.e0d0fa6df428dp-5, 0x1.d0b0037d155f4p-6,
    -0x1.3f603c3682d81p-7, 0x1.cc3a0e7d99253p-10, 0x1.33fb27421f98cp-12, -0x1.303fa49e236d5p-12,
    0x1.b143d63ea931ep-15, 0x1.778b948121ce1p-16, -0x1.8002c11990e5bp-17, -0x1.0556aa18e657bp-20,
    0x1.d65081c59291dp-20, -0x1.eb7b41166a177p-25, -0x1.1636c8002e495p-22, 0x1.8fa2f9fdc0311p-26,
    0x1.4eb5efb28ed5dp-25, -0x1.01418b99efa2ep-28, -0x1.6b2228df54be4p-28, 0x1.55fb76b7dbdd0p-32,
    0x1.e7a100062f385p-32,
};
/// lgamma(x) / ((x - 1) (x - 2)) of x - 2, 1 <= x <= 3
inline constexpr double log_gamma_near_two[] = {
    0x1.b0ee6072093cep-2, -0x1.9ae6509ea109ep-4, 0x1.0e0c9df293530p-5, -0x1.95ce223a9d24ap-7,
    0x1.47974853aa7eap-8, -0x1.145121f959a87p-9, 0x1.dfebcf8e001b7p-11, -0x1.a96a403976f3ap-12,
    0x1.7ed733d21cbf4p-13, -0x1.5c86af6d06700p-14, 0x1.402f0a28deda1p-15, -0x1.285110f192ea9p-16,
    0x1.13e4c880cb9a3p-17, -0x1.022302a40660bp-18, 0x1.e541e1a32fbd5p-20, -0x1.cb3ff70f30455p-21,
    0x1.b2c54c428c424p-22, -0x1.8ff67cc7ad32ep-23, 0x1.7c7b8a89c3cd7p-24, -0x1.bdb9f4ce42d8dp-25,
    0x1.ab61d22cc9788p-26, -0x1.f849c85b95e9dp-31, 0x1.a42ed3de5b793p-32, -0x1.3103f029c7ba0p-27,
    0x1.27da3df040450p-28, 0x1.4ff438323b2c8p-29, -0x1.47270e5e1fb65p-30, -0x1.c035341ec058fp-31,
    0x1.b3541ab65bdbfp-32,
};
/// x (lgamma(x) - (x - 0.5) log(x) + x - log(2 pi) / 2) of 1 / x^2, x >= 8
inline constexpr double log_gamma_tail[] = {
    0x1.5555555555555p-4, -0x1.6c16c16c16b29p-9, 0x1.a01a019ee0dbep-11, -0x1.38137ec070147p-11,
    0x1.b94f6d6592192p-11, -0x1.f5ff2fdcdf048p-10, 0x1.96db40614b193p-8, -0x1.55b3a71b66a2ep-6,
};
/// digamma(x) / (x - root) of x - 2, 1 <= x <= 3
inline constexpr double digamma_near_two[] = {
    0x1.9213d46736ba4p-1, -0x1.0aff270ca07a7p-2, 0x1.be76b26db7fcap-4, -0x1.95ec0c3ba95ddp-5,
    0x1.802924f9b0c3bp-6, -0x1.7389aa8092789p-7, 0x1.6bdf5e15c49cfp-8, -0x1.6714cfe05e6f7p-9,
    0x1.64076129f23e4p-10, -0x1.620f06b3e5d14p-11, 0x1.60c660d83e804p-12, -0x1.5fef17b5706cfp-13,
    0x1.5f65bb1232407p-14, -0x1.5f0817db8ceb0p-15, 0x1.5e8134df34222p-16, -0x1.5e5813a66b869p-17,
    0x1.6193e91a427bcp-18, -0x1.6181bfa5b3882p-19, 0x1.4556bd683ac5ep-20, -0x1.454eb2c8606dbp-21,
    0x1.efc9911beaaecp-22, -0x1.efc5fdb485822p-23, -0x1.e4ab7a5a224e9p-25, 0x1.e4ae934673553p-26,
    0x1.efa98b5daf9bbp-24, -0x1.efa957dc22aafp-25, -0x1.32b4ddf998a50p-25, 0x1.32b4e1f5089e7p-26,
    0x1.5e85bd733bf32p-27, -0x1.5e85b2d6eb610p-28,
};
/// x^2 (log(x) - 1 / (2x) - digamma(x)) of 1 / x^2, x >= 8
inline constexpr double digamma_tail[] = {
    0x1.5555555555555p-4, -0x1.1111111110d4fp-7, 0x1.0410410195bbfp-8, -0x1.11110c0ff8839p-8,
    0x1.f077209c326c0p-8, -0x1.58e68c895ad5bp-6, 0x1.47c69710dec6fp-4, -0x1.329c9079bcef2p-2,
};
/// Where digamma is 0, and what a double leaves of it.
inline constexpr double digamma_root = 0x1.762d86356be3fp+0, digamma_root_rest = 0x1.b86a722197829p-54;
/// (I0(x) - 1) / a of a = x^2 / 4, |x| <= 8
inline constexpr double bessel_i0_small[] = {
    0x1.0000000000000p+0, 0x1.0000000000000p-2, 0x1.c71c71c71c718p-6, 0x1.c71c71c71c7c2p-10,
    0x1.23456789ab17bp-14, 0x1.02e85c08a7dfcp-19, 0x1.522a43f4ad0f5p-25, 0x1.522a441639e1cp-31,
    0x1.0b3130d34d860p-37, 0x1.5601aa949484bp-44, 0x1.69c8a8327233ep-51, 0x1.41ac98bb3887bp-58,
    0x1.e5e1e29c5a679p-66, 0x1.44f6f6b62cb2ep-73, 0x1.3958326cb099fp-81, 0x1.192af56e3fb42p-88,
};
/// I1(x) / (x / 2) of a = x^2 / 4, |x| <= 8
inline constexpr double bessel_i1_small[] = {
    0x1.0000000000000p+0, 0x1.0000000000001p-1, 0x1.5555555555540p-4, 0x1.c71c71c71c9ecp-8,
    0x1.6c16c16c13a93p-12, 0x1.845c8a0d26f80p-17, 0x1.27e4fb73f1ad7p-22, 0x1.522a443ba2a26p-28,
    0x1.2c97552280795p-34, 0x1.ab8234c2c46fbp-41, 0x1.f17258b099a34p-48, 0x1.e290ec0d14f98p-55,
    0x1.8a6faa072cdf9p-62, 0x1.1dc3a22d140b2p-69, 0x1.1ec8e2d9b0ddbp-77, 0x1.20de50ee937a2p-84,
};
/// e^-x I0(x) sqrt(x) of 16 / x - 1, x >= 8
inline constexpr double bessel_i0_large[] = {
    0x1.9bd428ad249a5p-2, 0x1.b87969bb93b75p-9, 0x1.1daa72b5e650cp-13, 0x1.75e5ee71edd14p-17,
    0x1.8e513a1d5e52bp-20, 0x1.3f49a6bcfc2d9p-22, 0x1.7d0f75812d9bcp-24, 0x1.51ced7b713adcp-25,
    0x1.7224b1828e507p-26, 0x1.03896efb09a41p-27, -0x1.ce768f00b5374p-28, -0x1.cc90f59ec1228p-27,
    -0x1.77cc956faaa2fp-28, 0x1.0317d4c7b215ap-27, 0x1.047454ffcb608p-27, -0x1.df1549cddfaf8p-29,
    -0x1.a9411c5b0ad08p-28, 0x1.9bbbfe31d81e9p-30, 0x1.0ab5ef575d285p-28, -0x1.31c908a5dd531p-31,
    -0x1.e8fd992032bedp-30, 0x1.42a55974d41b8p-33, 0x1.1ce14787c5bdep-31, -0x1.52109c25bd9ecp-36,
    -0x1.36e52c10032d7p-34,
};
/// e^-x I1(x) sqrt(x) of 16 / x - 1, x >= 8
inline constexpr double bessel_i1_large[] = {
    0x1.8ebe783a84030p-2, -0x1.3f796198ee628p-7, -0x1.cbc54df1ece76p-13, -0x1.f89c23066d278p-17,
    -0x1.ec8e101744487p-20, -0x1.76137e6905189p-22, -0x1.ad8db6e1fecbbp-24, -0x1.727a73a8063a8p-25,
    -0x1.9180f82a1d429p-26, -0x1.21895bb7ba33fp-27, 0x1.cd81846fb3ff1p-28, 0x1.e20e7d69649cap-27,
    0x1.9f203cf2783b7p-28, -0x1.0630cddd4e099p-27, -0x1.1465ce7d29637p-27, 0x1.d4345a69bfc30p-29,
    0x1.bdc8daed57db9p-28, -0x1.858c7591014bdp-30, -0x1.162964d5f91dbp-28, 0x1.1aee882806184p-31,
    0x1.fce6b32270b52p-30, -0x1.272ae05110368p-33, -0x1.2839623e2341cp-31, 0x1.33e83e12ca3b4p-36,
    0x1.432b0a4121172p-34,
};
/// x / r of (log(r) - 2.2) / 1.5, P(X < -x) = e^(-r^2 / 2), 2.1 < r < 40
inline constexpr double normal_tail[] = {
    0x1.ec2d8da42e80ep-1, 0x1.9391e6296eeb1p-4, -0x1.f3d7276815eaap-4, 0x1.8e44be07279d2p-4,
    -0x1.c54c3085cfb75p-5, 0x1.805e2215eef93p-6, -0x1.e49234b0c5deap-8, 0x1.a6875be7437bbp-10,
    -0x1.71c0738db472cp-13, -0x1.e8b3a575f7ba2p-18, -0x1.89724519b600bp-17, 0x1.215b34584c294p-16,
    -0x1.ede19971cde83p-18, -0x1.1b47bc6e2c92ap-21, 0x1.33e25794b320cp-19, -0x1.18d9cbcc92539p-20,
    -0x1.3df3cde8f2903p-23, 0x1.bc783e3d15421p-22, -0x1.79158fa63f562p-23, -0x1.bcc19c0b5c8eap-25,
    0x1.8d1946c2787fap-24, -0x1.85a2acfa59d92p-26, -0x1.b0273832a122cp-26, 0x1.f5e13656a0515p-27,
    0x1.0fd69fc24d7b4p-28, -0x1.05fc577c71607p-28, -0x1.3708959316beap-32, 0x1.d6663a854a67cp-32,
};
// clang-format on
}  // namespace anabranch::coefficients

// A file of the user's own, under a name that the library has too.
#pragma once

#define ANABRANCH_CONSUMER_COMPILE 4

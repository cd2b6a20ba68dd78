#include "anabranch/error.h"

namespace anabranch {

Error::~Error() = default;
InternalError::~InternalError() = default;

}  // namespace anabranch

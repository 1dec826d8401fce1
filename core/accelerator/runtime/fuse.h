// Instructions made of others.
#pragma once

#include "program.h"

namespace cb {

void fuse_products(Program& program);
void fuse_chains(Program& program);

}  // namespace cb

// The rights of a user who is not root, so that files without permission are closed to a test that root runs.
#pragma once

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace stoker {

/// While it lives, for this thread and those that it starts.
class OrdinaryRights {
 public:
  OrdinaryRights() {
    EXPECT_EQ(::syscall(SYS_capget, &header_, all_), 0);
    __user_cap_data_struct fewer[2] = {all_[0], all_[1]};
    fewer[0].effective &= ~(1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH);
    EXPECT_EQ(::syscall(SYS_capset, &header_, fewer), 0);
  }
  ~OrdinaryRights() { EXPECT_EQ(::syscall(SYS_capset, &header_, all_), 0); }
  OrdinaryRights(const OrdinaryRights&) = delete;
  OrdinaryRights& operator=(const OrdinaryRights&) = delete;

 private:
  __user_cap_header_struct header_{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct all_[2] = {};
};

}  // namespace stoker

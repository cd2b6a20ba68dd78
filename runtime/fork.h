// Forked children of this process, which have its memory and none of its threads.
#pragma once

namespace anabranch {

/// Before the first thread of ours is made: a child that is forked from then on is an orphan.
void threads_begin();

/// Whether this process is a child that was forked after threads of ours had begun. What is ready
/// can be read there, nothing can run, and no lock of ours may be taken: a thread that is not there
/// may hold it.
bool is_orphan() noexcept;

/// Throws Error in an orphan, which says what to do.
void check_no_orphan(const char* function);

}  // namespace anabranch

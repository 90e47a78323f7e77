// Tags of sparse exchanges on Wherry's channel; no other messages have them.
#pragma once

namespace wherry::run {

inline constexpr int combined_records_tag = 8;
inline constexpr int further_records_tag = 9;
inline constexpr int by_itself_tag = 10;

/// Where any rank may send, a rank that is done must not disturb one that is not: exchanges take turns.
constexpr int straight_tag(bool odd) { return odd ? 12 : 11; }

}  // namespace wherry::run

// Bytes of a recording: numbers of any length, and the frame of a chunk.

#ifndef SWITCHBOARD_IO_RECORDING_WIRE_H_
#define SWITCHBOARD_IO_RECORDING_WIRE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "switchboard/core/error.h"

namespace sb::io::wire {

inline constexpr std::string_view kMagic = "SBRECORD";
inline constexpr size_t kFileHeader = 16;  // magic, version, flags
inline constexpr uint32_t kHashes = 1, kContents = 2;

// A chunk: this, a thread, the length of its bytes, their hash; then the bytes.
inline constexpr uint32_t kChunkMagic = 0x4b434253;  // "SBCK"
inline constexpr size_t kChunkHeader = 24;           // the last word is not used
inline constexpr uint32_t kEndOfFile = 0;            // in place of a thread: nothing follows

// What a record is: the low bits of its first number. Where a record has the number of something
// that is said once (a text, a kernel, a description of tensors, a context), one past the last such
// number is followed by what it stands for.
enum class Record : uint8_t { Enter, Leave, Context, More };
inline constexpr int kRecordBits = 2;
enum class More : uint8_t { Contents, Generator };

// The low bits of a value's first number.
enum class ValueForm : uint8_t { SameTensor, Tensor, Int, Other };
// What is said of a tensor anew.
inline constexpr uint8_t kMeta = 1, kStorage = 2, kVersion = 4, kHash = 8;
inline constexpr uint8_t kStorageFacts = 16;  // its size and device

constexpr uint64_t zigzag(int64_t v) {
  return (static_cast<uint64_t>(v) << 1) ^ static_cast<uint64_t>(v >> 63);
}
constexpr int64_t unzigzag(uint64_t v) { return static_cast<int64_t>((v >> 1) ^ -(v & 1)); }

// A hash of bytes that is the same on every machine: what chunks and tensors are known by. Not for
// those who look for two that are alike.
uint64_t hash_bytes(const void* data, size_t bytes);

// Grows at its end. The caller makes room for what it is about to write.
class Writer {
 public:
  static constexpr size_t kLongest = 10;  // of a number

  // Makes room for `bytes` bytes.
  void reserve(size_t bytes) {
    if (bytes > text_.size() - used_) [[unlikely]]
      grow(bytes);
  }
  void number(uint64_t v) {
    uint8_t* p = reinterpret_cast<uint8_t*>(text_.data()) + used_;
    uint8_t* const first = p;
    while (v >= 0x80) {
      *p++ = static_cast<uint8_t>(v) | 0x80;
      v >>= 7;
    }
    *p++ = static_cast<uint8_t>(v);
    used_ += static_cast<size_t>(p - first);
  }
  void byte(uint8_t v) { text_[used_++] = static_cast<char>(v); }
  void word(uint64_t v) { raw(&v, sizeof(v)); }
  void raw(const void* data, size_t bytes) {
    std::memcpy(text_.data() + used_, data, bytes);
    used_ += bytes;
  }
  // A length and that many bytes; makes its own room.
  void text(std::string_view text) {
    reserve(text.size() + kLongest);
    number(text.size());
    raw(text.data(), text.size());
  }

  std::string_view bytes() const { return {text_.data(), used_}; }
  size_t size() const { return used_; }
  void clear() { used_ = 0; }

 private:
  [[gnu::noinline]] void grow(size_t bytes) { text_.resize(2 * text_.size() + bytes + 4096); }

  std::string text_;
  size_t used_ = 0;
};

// Reads what may be hostile: whatever is past the end is a ValueError.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  bool done() const { return at_ == bytes_.size(); }
  size_t at() const { return at_; }
  size_t left() const { return bytes_.size() - at_; }
  uint8_t byte() { return static_cast<uint8_t>(take(1)[0]); }
  uint64_t number() {
    uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint8_t b = byte();
      if (shift == 63 && b > 1) break;
      v |= static_cast<uint64_t>(b & 0x7f) << shift;
      if (b < 0x80) return v;
    }
    SB_THROW(ValueError, "expected a number of at most 64 bits");
  }
  uint32_t small_number(const char* what) {
    const uint64_t v = number();
    SB_CHECK_VALUE(v <= 0xfffffffe, what, " ", v, " is too large");
    return static_cast<uint32_t>(v);
  }
  // A number of things of which each takes at least a byte.
  size_t count(const char* what) {
    const uint64_t v = number();
    SB_CHECK_VALUE(v <= left(), "expected ", v, " ", what, ", and only ", left(),
                   " bytes are left");
    return static_cast<size_t>(v);
  }
  int64_t signed_number() { return unzigzag(number()); }
  uint64_t word() {
    uint64_t v;
    std::memcpy(&v, take(sizeof(v)).data(), sizeof(v));
    return v;
  }
  std::string_view text() { return take(count("bytes")); }
  std::string_view take(size_t bytes) {
    SB_CHECK_VALUE(bytes <= left(), "expected ", bytes, " bytes, and only ", left(), " are left");
    const std::string_view taken = bytes_.substr(at_, bytes);
    at_ += bytes;
    return taken;
  }

 private:
  std::string_view bytes_;
  size_t at_ = 0;
};

}  // namespace sb::io::wire

#endif  // SWITCHBOARD_IO_RECORDING_WIRE_H_

#include "stoker/format/hdf5/hdf5_extensible_array.h"

#include <algorithm>
#include <bit>

namespace stoker {
namespace {

constexpr std::string_view kExtensibleArray = "the growing array of a dataset's chunks";

}  // namespace

Hdf5ExtensibleArray::Hdf5ExtensibleArray(Hdf5File& file, std::uint64_t address, std::uint64_t chunk_bytes,
                                         bool is_filtered)
    : file_(file), chunk_bytes_(chunk_bytes) {
  const std::size_t addresses = file.address_bytes();
  Hdf5Fields header = file.read_checked(address, 16 + 6 * file.length_bytes() + addresses, kExtensibleArray);
  header.expect("EAHD");
  header.version(0, 0);
  header.skip(1);
  element_bytes_ = header.u8();
  const std::size_t bits = header.u8();
  const std::uint8_t in_index = header.u8();
  least_elements_ = header.u8();
  const std::uint64_t least_blocks = header.u8();
  const std::uint8_t page_bits = header.u8();
  header.skip(6 * file.length_bytes());
  const std::uint64_t index_block = header.address(addresses);
  if (element_bytes_ < addresses + (is_filtered ? 5 : 0) || element_bytes_ > addresses + 12 || bits > 48 ||
      page_bits > 31 || !std::has_single_bit(least_elements_) || !std::has_single_bit(least_blocks) ||
      bits < static_cast<std::size_t>(std::countr_zero(least_elements_))) {
    header.refuse("its sizes are not those of such an array");
  }
  place_bytes_ = (bits + 7) / 8;
  page_elements_ = std::uint64_t{1} << page_bits;
  const std::size_t super_blocks = 1 + bits - static_cast<std::size_t>(std::countr_zero(least_elements_));
  first_super_block_ = 2 * static_cast<std::uint64_t>(std::countr_zero(least_blocks));
  in_index_.resize(in_index);
  data_blocks_.assign(static_cast<std::size_t>(2 * (least_blocks - 1)), kHdf5Nowhere);
  super_blocks_.assign(super_blocks - std::min<std::size_t>(super_blocks, first_super_block_), kHdf5Nowhere);
  if (index_block != kHdf5Nowhere) read_index_block(index_block);
}

void Hdf5ExtensibleArray::read_index_block(std::uint64_t address) {
  const std::size_t addresses = file_.address_bytes(), prefix = 6 + addresses;
  const std::uint64_t bytes =
      prefix + in_index_.size() * element_bytes_ + (data_blocks_.size() + super_blocks_.size()) * addresses + 4;
  Hdf5Fields block = file_.read_checked(address, bytes, kExtensibleArray);
  block.expect("EAIB");
  block.version(0, 0);
  block.skip(prefix - 5);
  for (Hdf5Chunk& chunk : in_index_) chunk = read_hdf5_element(block, element_bytes_, addresses, chunk_bytes_);
  for (std::uint64_t& data_block : data_blocks_) data_block = block.address(addresses);
  for (std::uint64_t& super_block : super_blocks_) super_block = block.address(addresses);
}

void Hdf5ExtensibleArray::read_super_block(std::uint64_t number) {
  const std::size_t addresses = file_.address_bytes(), prefix = 6 + addresses + place_bytes_;
  const std::uint64_t count = data_blocks_of(number), elements = elements_of(number);
  super_block_ = {.number = number};
  const std::uint64_t at = number - first_super_block_;
  const std::uint64_t address = at < super_blocks_.size() ? super_blocks_[static_cast<std::size_t>(at)] : kHdf5Nowhere;
  if (address == kHdf5Nowhere) return;
  const std::uint64_t pages = elements > page_elements_ ? elements / page_elements_ : 0;
  const std::uint64_t map_bytes = count * ((pages + 7) / 8);
  Hdf5Fields block = file_.read_checked(address, prefix + map_bytes + count * addresses + 4, kExtensibleArray);
  block.expect("EASB");
  block.version(0, 0);
  block.skip(prefix - 5);
  const Bytes map = block.take(static_cast<std::size_t>(map_bytes));
  super_block_.pages.assign(map.begin(), map.end());
  for (std::uint64_t i = 0; i < count; ++i) super_block_.data_blocks.push_back(block.address(addresses));
}

void Hdf5ExtensibleArray::read_run(std::uint64_t first, std::uint64_t count, std::uint64_t address,
                                   std::uint64_t prefix_bytes) {
  run_ = {.first = first};
  Hdf5Fields block = file_.read_checked(address, prefix_bytes + count * element_bytes_ + 4, kExtensibleArray);
  if (prefix_bytes > 0) {
    block.expect("EADB");
    block.version(0, 0);
    block.skip(static_cast<std::size_t>(prefix_bytes) - 5);
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    run_.elements.push_back(read_hdf5_element(block, element_bytes_, file_.address_bytes(), chunk_bytes_));
  }
}

Hdf5Chunk Hdf5ExtensibleArray::element(std::uint64_t number) {
  if (number < in_index_.size()) return in_index_[static_cast<std::size_t>(number)];
  if (number - run_.first < run_.elements.size()) return run_.elements[static_cast<std::size_t>(number - run_.first)];
  const std::uint64_t beyond = number - in_index_.size();
  const auto super_block = static_cast<std::uint64_t>(std::bit_width(beyond / least_elements_ + 1)) - 1;
  const std::uint64_t in_super_block = beyond - ((std::uint64_t{1} << super_block) - 1) * least_elements_;
  const std::uint64_t elements = elements_of(super_block);
  const std::uint64_t block = in_super_block / elements, in_block = in_super_block % elements;
  const std::uint64_t prefix = 6 + file_.address_bytes() + place_bytes_;
  const std::uint64_t first = number - in_block;
  if (super_block < first_super_block_) {
    // All super blocks before this one have as many data blocks as these sums.
    const std::uint64_t before =
        super_block % 2 == 0 ? 2 * (data_blocks_of(super_block) - 1) : 3 * data_blocks_of(super_block) - 2;
    const std::uint64_t address = data_blocks_[static_cast<std::size_t>(before + block)];
    if (address == kHdf5Nowhere) return {};
    read_run(first, elements, address, prefix);
    return element(number);
  }
  if (super_block_.number != super_block) read_super_block(super_block);
  if (super_block_.data_blocks.empty()) return {};
  const std::uint64_t address = super_block_.data_blocks[static_cast<std::size_t>(block)];
  if (address == kHdf5Nowhere) return {};
  if (elements <= page_elements_) {
    read_run(first, elements, address, prefix);
    return element(number);
  }
  const std::uint64_t pages = elements / page_elements_, page = in_block / page_elements_;
  if (!hdf5_bit(super_block_.pages, block * pages + page)) return {};
  read_run(first + page * page_elements_, page_elements_,
           address + prefix + 4 + page * (page_elements_ * element_bytes_ + 4), 0);
  return element(number);
}

}  // namespace stoker

// Which source line an address of code belongs to, from the line tables (DWARF 2 to 5) of the file
// that it was loaded from. Whatever a table has that is not known here, the address has no line.
#define _GNU_SOURCE
#include "CRaceHunt.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/// Bytes that are read from the front; nothing is read past the end.
struct bytes {
  const uint8_t *at, *end;
};

static bool skip(struct bytes *bytes, uint64_t count) {
  if (count > (uint64_t)(bytes->end - bytes->at)) {
    bytes->at = bytes->end;
    return false;
  }
  bytes->at += count;
  return true;
}

static uint64_t number(struct bytes *bytes, unsigned size) {
  uint64_t value = 0;
  const uint8_t *from = bytes->at;
  if (!skip(bytes, size)) return 0;
  for (unsigned i = 0; i < size && i < 8; i++) value |= (uint64_t)from[i] << (8 * i);
  return value;
}

static uint64_t unsigned_leb(struct bytes *bytes) {
  uint64_t value = 0;
  for (unsigned shift = 0; bytes->at < bytes->end; shift += 7) {
    uint8_t byte = *bytes->at++;
    if (shift < 64) value |= (uint64_t)(byte & 127) << shift;
    if (!(byte & 128)) break;
  }
  return value;
}

static int64_t signed_leb(struct bytes *bytes) {
  uint64_t value = 0;
  unsigned shift = 0;
  while (bytes->at < bytes->end) {
    uint8_t byte = *bytes->at++;
    if (shift < 64) value |= (uint64_t)(byte & 127) << shift;
    shift += 7;
    if (byte & 128) continue;
    if (shift < 64 && (byte & 64)) value |= ~UINT64_C(0) << shift;
    break;
  }
  return (int64_t)value;
}

/// NULL without an end.
static const char *string(struct bytes *bytes) {
  const uint8_t *from = bytes->at;
  const uint8_t *zero = memchr(from, 0, (size_t)(bytes->end - from));
  if (zero == NULL) {
    bytes->at = bytes->end;
    return NULL;
  }
  bytes->at = zero + 1;
  return (const char *)from;
}

static const char *string_at(struct bytes section, uint64_t offset) {
  return skip(&section, offset) ? string(&section) : NULL;
}

/// What the tables of one file need.
struct tables {
  struct bytes lines, line_strings, strings;
};

/// An address that a line is wanted for, as it is in the file.
struct wanted {
  uint64_t address;
  char *text;
};

struct search {
  struct wanted *wanted;
  size_t count, capacity;
  uint64_t lowest, highest;
};

/// The head of a part of the line tables.
struct head {
  unsigned version, offset_size, minimum, opcode_base;
  int line_base;
  unsigned line_range;
  const uint8_t *lengths;
  /// Folders and files.
  struct bytes names;
};

/// A value of the form; its string, if it is one.
static const char *form(
    struct bytes *bytes, uint64_t kind, const struct tables *tables, unsigned offset_size) {
  switch (kind) {
    case 0x08: return string(bytes);
    case 0x1f: return string_at(tables->line_strings, number(bytes, offset_size));
    case 0x0e: return string_at(tables->strings, number(bytes, offset_size));
    case 0x0f: unsigned_leb(bytes); return NULL;
    case 0x0b: skip(bytes, 1); return NULL;
    case 0x05: skip(bytes, 2); return NULL;
    case 0x06: skip(bytes, 4); return NULL;
    case 0x07: skip(bytes, 8); return NULL;
    case 0x1e: skip(bytes, 16); return NULL;
    case 0x09: skip(bytes, unsigned_leb(bytes)); return NULL;
    default: bytes->at = bytes->end; return NULL;
  }
}

/// Goes through a table of version 5; the name of the entry with this number, NULL for none.
static const char *entry(
    struct bytes *names, uint64_t wanted, const struct tables *tables, unsigned offset_size) {
  const char *found = NULL;
  unsigned formats = (unsigned)number(names, 1);
  struct bytes format = *names;
  for (unsigned i = 0; i < 2 * formats; i++) unsigned_leb(names);
  uint64_t count = unsigned_leb(names);
  for (uint64_t i = 0; i < count && names->at < names->end; i++) {
    struct bytes each = format;
    for (unsigned field = 0; field < formats; field++) {
      uint64_t content = unsigned_leb(&each);
      const char *text = form(names, unsigned_leb(&each), tables, offset_size);
      if (content == 1 && i == wanted) found = text;
    }
  }
  return found;
}

/// The name of a file in a part; NULL for none.
static const char *file_name(
    const struct head *head, uint64_t file, const struct tables *tables) {
  struct bytes names = head->names;
  if (head->version >= 5) {
    entry(&names, UINT64_MAX, tables, head->offset_size);
    return entry(&names, file, tables, head->offset_size);
  }
  for (const char *folder; (folder = string(&names)) && *folder;) {}
  const char *name;
  for (uint64_t i = 1; (name = string(&names)) && *name; i++) {
    if (i == file) return name;
    for (int field = 0; field < 3; field++) unsigned_leb(&names);
  }
  return NULL;
}

static bool read_head(struct bytes *part, struct head *head) {
  head->version = (unsigned)number(part, 2);
  if (head->version < 2 || head->version > 5) return false;
  if (head->version >= 5) skip(part, 2);
  uint64_t length = number(part, head->offset_size);
  struct bytes program = *part;
  if (!skip(&program, length)) return false;
  head->minimum = (unsigned)number(part, 1);
  if (head->version >= 4) skip(part, 1);
  skip(part, 1);
  head->line_base = (int8_t)number(part, 1);
  head->line_range = (unsigned)number(part, 1);
  head->opcode_base = (unsigned)number(part, 1);
  head->lengths = part->at;
  if (head->line_range == 0 || head->opcode_base == 0) return false;
  if (!skip(part, head->opcode_base - 1)) return false;
  head->names = (struct bytes){part->at, program.at};
  part->at = program.at;
  return true;
}

/// Where a program of a line table is.
struct row {
  uint64_t address, file, line;
};

/// The rows of one function or several that lie together.
struct sequence {
  /// The one before, and the last one with a line, as compilers have none for what they add.
  struct row before, lined;
  uint64_t start;
  bool has_row;
};

static void pass_row(
    struct sequence *sequence, struct row row, const struct head *head, const struct tables *tables,
    const struct search *search) {
  uint64_t from = sequence->before.address;
  // What the linker has left out lies at 0.
  if (sequence->has_row && sequence->start != 0 && sequence->lined.line != 0 &&
      row.address > search->lowest && from <= search->highest) {
    for (size_t i = 0; i < search->count; i++) {
      struct wanted *wanted = &search->wanted[i];
      if (wanted->address < from || wanted->address >= row.address || wanted->text[0]) continue;
      const char *name = file_name(head, sequence->lined.file, tables);
      if (name == NULL || name[0] == '<') continue;
      const char *slash = strrchr(name, '/');
      snprintf(wanted->text, search->capacity, "%s:%llu", slash ? slash + 1 : name,
               (unsigned long long)sequence->lined.line);
    }
  }
  if (!sequence->has_row) sequence->start = row.address;
  sequence->has_row = true;
  sequence->before = row;
  if (row.line != 0) sequence->lined = row;
}

static void run_program(
    struct bytes part, const struct head *head, const struct tables *tables,
    const struct search *search) {
  const struct row first = {0, 1, 1};
  struct row row = first;
  struct sequence sequence = {0};
  while (part.at < part.end) {
    unsigned code = *part.at++;
    if (code >= head->opcode_base) {
      unsigned step = code - head->opcode_base;
      row.address += step / head->line_range * head->minimum;
      row.line += (uint64_t)(int64_t)(head->line_base + (int)(step % head->line_range));
      pass_row(&sequence, row, head, tables, search);
      continue;
    }
    switch (code) {
      case 0: {
        uint64_t length = unsigned_leb(&part);
        struct bytes rest = part;
        if (length == 0 || !skip(&part, length)) break;
        rest.end = part.at;
        uint64_t kind = number(&rest, 1);
        if (kind == 1) {
          pass_row(&sequence, row, head, tables, search);
          row = first;
          sequence = (struct sequence){0};
        } else if (kind == 2) {
          row.address = number(&rest, (unsigned)(length - 1));
        }
        break;
      }
      case 1: pass_row(&sequence, row, head, tables, search); break;
      case 2: row.address += unsigned_leb(&part) * head->minimum; break;
      case 3: row.line += (uint64_t)signed_leb(&part); break;
      case 4: row.file = unsigned_leb(&part); break;
      case 8: row.address += (255 - head->opcode_base) / head->line_range * head->minimum; break;
      case 9: row.address += number(&part, 2); break;
      default:
        for (unsigned i = 0; i < head->lengths[code - 1]; i++) unsigned_leb(&part);
    }
  }
}

static void search_lines(const struct tables *tables, const struct search *search) {
  struct bytes lines = tables->lines;
  while (lines.at < lines.end) {
    struct head head = {.offset_size = 4};
    uint64_t length = number(&lines, 4);
    if (length == 0xffffffff) {
      head.offset_size = 8;
      length = number(&lines, 8);
    }
    struct bytes part = lines;
    if (!skip(&lines, length)) return;
    part.end = lines.at;
    if (read_head(&part, &head)) run_program(part, &head, tables, search);
  }
}

/// False for a file without line tables, or with compressed ones.
static bool find_tables(struct bytes file, struct tables *tables) {
  struct bytes rest = file;
  const Elf64_Ehdr *elf = (const Elf64_Ehdr *)file.at;
  if (!skip(&rest, sizeof *elf) || memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 ||
      elf->e_ident[EI_CLASS] != ELFCLASS64 || elf->e_shentsize != sizeof(Elf64_Shdr))
    return false;
  rest = file;
  if (!skip(&rest, elf->e_shoff)) return false;
  const Elf64_Shdr *sections = (const Elf64_Shdr *)rest.at;
  if (!skip(&rest, (uint64_t)elf->e_shnum * sizeof *sections) || elf->e_shstrndx >= elf->e_shnum)
    return false;
  uint64_t names = sections[elf->e_shstrndx].sh_offset;
  for (unsigned i = 0; i < elf->e_shnum; i++) {
    const char *name = string_at(file, names + sections[i].sh_name);
    struct bytes content = file;
    if (name == NULL || sections[i].sh_type == SHT_NOBITS || (sections[i].sh_flags & SHF_COMPRESSED)
        || !skip(&content, sections[i].sh_offset))
      continue;
    struct bytes end = content;
    if (!skip(&end, sections[i].sh_size)) continue;
    content.end = end.at;
    if (strcmp(name, ".debug_line") == 0) tables->lines = content;
    else if (strcmp(name, ".debug_line_str") == 0) tables->line_strings = content;
    else if (strcmp(name, ".debug_str") == 0) tables->strings = content;
  }
  return tables->lines.at != NULL;
}

static void search_file(const char *path, const struct search *search) {
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (descriptor < 0) return;
  void *map = MAP_FAILED;
  if (fstat(descriptor, &status) == 0 && status.st_size > 0)
    map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  close(descriptor);
  if (map == MAP_FAILED) return;
  struct tables tables = {0};
  if (find_tables((struct bytes){map, (uint8_t *)map + status.st_size}, &tables))
    search_lines(&tables, search);
  munmap(map, (size_t)status.st_size);
}

/// The file that holds the code at the address, and how far it was moved when it was loaded.
static const char *loaded_file(uintptr_t address, uint64_t *moved) {
  Dl_info information;
  struct link_map *map = NULL;
  if (dladdr1((void *)address, &information, (void **)&map, RTLD_DL_LINKMAP) == 0 || map == NULL)
    return NULL;
  *moved = map->l_addr;
  // The program itself has none.
  return map->l_name && map->l_name[0] ? map->l_name : "/proc/self/exe";
}

enum { AT_ONCE = 128 };

static void find_lines(const uintptr_t *addresses, size_t count, char *texts, size_t capacity) {
  struct wanted wanted[AT_ONCE];
  for (size_t i = 0; i < count; i++) texts[i * capacity] = 0;
  bool is_done[AT_ONCE] = {false};
  for (size_t first = 0; first < count; first++) {
    uint64_t moved;
    const char *file = is_done[first] ? NULL : loaded_file(addresses[first], &moved);
    if (file == NULL) continue;
    struct search search = {wanted, 0, capacity, UINT64_MAX, 0};
    for (size_t i = first; i < count; i++) {
      uint64_t other;
      const char *name = is_done[i] ? NULL : loaded_file(addresses[i], &other);
      if (name == NULL || strcmp(name, file) != 0) continue;
      is_done[i] = true;
      // It is where the call comes back to: the call itself is before it.
      uint64_t address = addresses[i] - 1 - moved;
      wanted[search.count++] = (struct wanted){address, texts + i * capacity};
      if (address < search.lowest) search.lowest = address;
      if (address > search.highest) search.highest = address;
    }
    search_file(file, &search);
  }
}

void race_hunt_lines(const uintptr_t *addresses, size_t count, char *texts, size_t capacity) {
  uintptr_t places[AT_ONCE], outer[AT_ONCE];
  if (count > AT_ONCE) count = AT_ONCE;
  for (size_t i = 0; i < count; i++) places[i] = race_hunt_place(addresses[i], &outer[i]);
  find_lines(places, count, texts, capacity);
  // What only calls the body that functions have together has no line.
  for (size_t i = 0; i < count; i++)
    if (texts[i * capacity] == 0 && outer[i] != 0)
      find_lines(&outer[i], 1, texts + i * capacity, capacity);
}

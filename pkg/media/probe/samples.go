package probe

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"github.com/content-automation/api/pkg/base/budget"
	"github.com/content-automation/api/pkg/media/audio"
)

// The samples of a removed track lie among those of the others, where its tables or its fragments say.

// drop notes samples that are to be removed.
func (s *stripper) drop(from int64, n uint64) error {
	if n == 0 {
		return nil
	}
	if from < 0 || from > s.Size || n > uint64(s.Size-from) {
		return audio.Unsupported("samples of %d bytes at %d of %d", n, from, s.Size)
	}
	if s.sum += int64(n); s.sum > s.Size {
		return audio.Unsupported("tracks share their samples")
	}
	if last := len(s.samples) - 1; last >= 0 && s.samples[last].to == from {
		s.samples[last].to += int64(n)
		return nil
	}
	if len(s.samples) == maxSpans {
		return audio.Unsupported("more than %d parts of a track", maxSpans)
	}
	s.samples = append(s.samples, span{from, from + int64(n)})
	return s.ctx.Err()
}

// tooMuch returns the error of a file with more in it than is read, or that of the context.
func tooMuch(err error) error {
	if errors.Is(err, budget.ErrExceeded) {
		return audio.Unsupported("%v", err)
	}
	return err
}

// blankSamples removes the samples that were noted, as far as they lie where samples do.
func (s *stripper) blankSamples() {
	// Parts of several tracks may lie over each other. As one, each box of data is looked at once for each.
	slices.SortFunc(s.samples, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	apart := s.samples[:0]
	for _, sample := range s.samples {
		if last := len(apart) - 1; last >= 0 && sample.from <= apart[last].to {
			apart[last].to = max(apart[last].to, sample.to)
		} else {
			apart = append(apart, sample)
		}
	}
	for _, sample := range apart {
		// The boxes of data follow each other.
		at, _ := slices.BinarySearchFunc(s.data, sample.from, func(d span, from int64) int {
			if d.to <= from {
				return -1
			}
			return 1
		})
		for ; at < len(s.data) && s.data[at].from < sample.to; at++ {
			from, to := max(sample.from, s.data[at].from), min(sample.to, s.data[at].to)
			s.edits = append(s.edits, Edit{At: from, Zeros: to - from})
		}
	}
}

// table reads numbers of 32 or 64 bits in their order.
type table struct {
	r *bufio.Reader
	n int64 // left
	m *budget.Meter
	// entry is the last one that was read.
	entry [12]byte
}

// table returns the numbers behind so many bytes of a box, of so many bytes each.
func (s *stripper) table(b box, skip, width int64) *table {
	from := min(b.body+skip, b.end)
	return &table{r: bufio.NewReaderSize(io.NewSectionReader(s.R, from, b.end-from), 1<<14), n: (b.end - from) / width,
		m: s.m}
}

func (t *table) u32() (uint32, error) {
	err := t.read(4)
	return binary.BigEndian.Uint32(t.entry[:]), err
}

func (t *table) u64() (uint64, error) {
	err := t.read(8)
	return binary.BigEndian.Uint64(t.entry[:]), err
}

// read reads an entry of so many bytes.
func (t *table) read(width int) error {
	if err := t.m.Count(1); err != nil {
		return tooMuch(err)
	}
	_, err := io.ReadFull(t.r, t.entry[:width])
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = audio.Unsupported("a table ends too early")
	}
	return err
}

// tables notes the samples of a track. A track without tables has none, or has fragments.
func (s *stripper) tables(stbl box) error {
	var of [4]box
	for i, name := range []string{"stsz", "stsc", "stco", "co64"} {
		var err error
		if of[i], err = s.find(stbl, name); err != nil {
			return err
		}
	}
	stsz, stsc, stco := of[0], of[1], of[2]
	width := int64(4)
	if stco.name == "" {
		stco, width = of[3], 8
	}
	if stsz.name == "" || stsc.name == "" || stco.name == "" {
		return nil
	}
	uniform, err := s.u32(stsz.body + 4)
	if err != nil {
		return err
	}
	const counted = 8 // the flags and the count are before the entries
	sizes, runs, chunks := s.table(stsz, counted+4, 4), s.table(stsc, counted, 12), s.table(stco, counted, width)
	var run, following run
	if following, err = runs.next(); err != nil {
		return err
	}
	for chunk := uint32(1); chunks.n > 0; chunk++ {
		chunks.n--
		var at uint64
		if width == 8 {
			at, err = chunks.u64()
		} else {
			var short uint32
			short, err = chunks.u32()
			at = uint64(short)
		}
		if err != nil {
			return err
		}
		for following.samples > 0 && chunk >= following.chunk {
			run = following
			if following, err = runs.next(); err != nil {
				return err
			}
		}
		n := uint64(run.samples) * uint64(uniform)
		for left := run.samples; uniform == 0 && left > 0 && sizes.n > 0; left-- {
			sizes.n--
			size, err := sizes.u32()
			if err != nil {
				return err
			}
			n += uint64(size)
		}
		if err := s.drop(int64(min(at, 1<<62)), n); err != nil {
			return err
		}
	}
	return nil
}

// run is the number of samples in each chunk from one on.
type run struct{ chunk, samples uint32 }

// next reads a run. After the last one it has no samples.
func (t *table) next() (r run, err error) {
	if t.n == 0 {
		return r, nil
	}
	t.n--
	if err := t.read(12); err != nil { // the last number is that of their description
		return r, err
	}
	return run{binary.BigEndian.Uint32(t.entry[:]), binary.BigEndian.Uint32(t.entry[4:])}, nil
}

// fragment is a fragment of a track.
type fragment struct {
	box
	moof  int64 // the place of the box that has it
	first bool  // it is the first one in it
}

// The flags of fragments.
const (
	ownBase, description, duration, ownSize, fromMoof = 0x1, 0x2, 0x8, 0x10, 0x20000 // of their headers
	ownOffset, firstFlags, eachSize                   = 0x1, 0x4, 0x200              // of their runs
)

// defaults notes the size of the samples that say none.
func (s *stripper) defaults(trex box) error {
	id, err := s.u32(trex.body + 4)
	if err != nil {
		return err
	}
	s.sizes[id], err = s.u32(trex.body + 16)
	return err
}

// fragment removes a fragment of a removed track, with its samples.
func (s *stripper) fragment(f fragment) error {
	header, err := s.find(f.box, "tfhd")
	if err != nil || header.name == "" {
		return err
	}
	fields := s.table(header, 0, 4)
	flags, _ := fields.u32()
	id, err := fields.u32()
	if err != nil || !s.removed[id] {
		return err
	}
	s.blank(f.box)
	base, size := uint64(f.moof), s.sizes[id]
	if flags&ownBase != 0 {
		base, err = fields.u64()
	}
	for _, flag := range []uint32{description, duration, ownSize} {
		if flags&flag != 0 && err == nil {
			var v uint32
			if v, err = fields.u32(); flag == ownSize {
				size = v
			}
		}
	}
	// Without a base, a later fragment begins where the one before ends: such files are of long ago.
	if err != nil || flags&(ownBase|fromMoof) == 0 && !f.first {
		return err
	}
	next := int64(min(base, 1<<62))
	return s.each(f.body, f.end, func(b box) error {
		if b.name != "trun" {
			return nil
		}
		n, err := s.samplesOf(b, int64(min(base, 1<<62)), &next, size)
		if err != nil {
			return err
		}
		if err := s.drop(next, n); err != nil {
			return err
		}
		next += int64(n)
		return nil
	})
}

// samplesOf returns the number of bytes of a run, and sets the place where it begins, if it says so.
func (s *stripper) samplesOf(trun box, base int64, at *int64, size uint32) (n uint64, err error) {
	fields := s.table(trun, 0, 4)
	flags, _ := fields.u32()
	count, err := fields.u32()
	if err == nil && flags&ownOffset != 0 {
		var offset uint32
		offset, err = fields.u32()
		*at = base + int64(int32(offset))
	}
	if err == nil && flags&firstFlags != 0 {
		_, err = fields.u32()
	}
	if err != nil || flags&eachSize == 0 {
		return uint64(count) * uint64(size), err
	}
	for ; count > 0; count-- {
		for _, flag := range []uint32{0x100, eachSize, 0x400, 0x800} { // its duration, size, flags and shift
			if flags&flag == 0 {
				continue
			}
			v, err := fields.u32()
			if err != nil {
				return 0, audio.Unsupported("a run of samples ends too early")
			}
			if flag == eachSize {
				n += uint64(v)
			}
		}
	}
	return n, nil
}

package probe

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/audio"
)

const (
	maxLeaf = 1 << 18 // bytes of a box that is read whole; those read here take about a hundred
	// maxLength bounds the length that a file may claim.
	maxLength = 24 * time.Hour
	// maxSide bounds the pixels of one side.
	maxSide = 1 << 16
	// unnoticed is the difference that nobody sees or hears: an edit list that changes less does not matter.
	unnoticed = 50 * time.Millisecond
)

// mp4 reads an MP4 file with a video track. Pictures and QuickTime movies, which have the same boxes, are refused:
// platforms that accept MP4 need not play them.
func (f file) mp4() (Info, error) {
	brand := make([]byte, 4)
	if err := f.At(8, brand); err != nil {
		return Info{}, err
	}
	if string(brand) == "qt  " {
		return Info{}, audio.Unsupported("video/quicktime")
	}
	ctx := context.Background()
	if err := refuse(ctx, f.R, f.Size); err != nil {
		return Info{}, err
	}
	meter, end := tables.Begin(ctx)
	defer end()
	m := &movie{stripper: &stripper{File: f.File, ctx: meter.Context(), m: meter}, matrix: [4]int32{1, 0, 0, 1}}
	if err := m.read(0, f.Size); err != nil {
		return Info{}, err
	}
	shown, place := m.picture()
	if shown == nil {
		return Info{}, audio.Unsupported("video/mp4 (brand %q) without a track of pictures", brand)
	}
	length := m.lasting(shown)
	found := m.describe(shown, place)
	width, height := found.Picture.Shown()
	if width < 1 || height < 1 || width > maxSide || height > maxSide || length <= 0 || length > maxLength {
		return Info{}, audio.Unsupported("video/mp4 (brand %q) of %d x %d pixels, %v", brand, width, height, length)
	}
	return Info{Type: media.Video, MIMEType: "video/mp4", Ext: "mp4", Width: width, Height: height, Duration: length,
		Movie: found}, nil
}

// movie is the content of the boxes of an MP4 file that say what is shown and heard.
type movie struct {
	*stripper
	timescale uint32   // units in a second
	claimed   uint64   // the length in the headers
	matrix    [4]int32 // of all tracks
	tracks    []*track
	defaults  map[uint32]uint32 // the durations of the samples of tracks that say none
}

// track is a track of an MP4.
type track struct {
	id            uint32
	kind          string
	matrix        [4]int32
	width, height int // in which it is to be shown
	timescale     uint32
	edits         []edit
	entry         entry
	// units is the length of its samples, of which tabled are in tables and not in fragments.
	units, tabled uint64
	samples       uint64
	first         int64 // the time at which the first sample is shown
}

// edit is a part of a track that is shown, or a pause if it begins before the samples.
type edit struct {
	units uint64 // of the movie
	from  int64  // of the track
	slow  bool   // it stands still
}

// read reads the boxes between two offsets, and descends into those of a movie.
func (m *movie) read(from, to int64) error {
	return m.each(from, to, func(b box) error {
		switch b.name {
		case "moov", "mvex":
			return m.read(b.body, b.end)
		case "mvhd":
			f, err := m.leaf(b)
			times := 4 * (f.u8(0) & 1) // longer times
			m.timescale, m.matrix = f.u32(12+2*times), f.matrix(36+3*times)
			m.claimed = max(m.claimed, f.units(16+2*times, times > 0))
			return err
		case "mehd":
			f, err := m.leaf(b)
			m.claimed = max(m.claimed, f.units(4, f.u8(0) == 1))
			return err
		case "trex":
			f, err := m.leaf(b)
			if m.defaults == nil {
				m.defaults = map[uint32]uint32{}
			}
			m.defaults[f.u32(4)] = f.u32(12)
			return err
		case "trak":
			t := &track{matrix: [4]int32{1, 0, 0, 1}}
			m.tracks = append(m.tracks, t)
			return m.track(t, b)
		case "moof":
			return m.each(b.body, b.end, func(b box) error {
				if b.name != "traf" {
					return nil
				}
				return m.fragment(b)
			})
		}
		return nil
	})
}

// leaf reads a box whole.
func (m *movie) leaf(b box) (fields, error) {
	if b.end-b.body > maxLeaf {
		return nil, audio.Unsupported("video/mp4: box %q of %d bytes", b.name, b.end-b.body)
	}
	content := make(fields, b.end-b.body)
	return content, m.At(b.body, content)
}

// units returns a number of 32 or 64 bits, of which all ones mean that it is unknown.
func (f fields) units(at int, long bool) uint64 {
	n := uint64(f.u32(at))
	if long {
		n = f.u64(at)
	}
	if n == math.MaxUint32 || n > math.MaxInt64 {
		return 0
	}
	return n
}

// matrix returns the four numbers of a matrix that turn and mirror.
func (f fields) matrix(at int) [4]int32 {
	return [4]int32{int32(f.u32(at)), int32(f.u32(at + 4)), int32(f.u32(at + 12)), int32(f.u32(at + 16))}
}

// track reads the boxes of a track.
func (m *movie) track(t *track, in box) error {
	return m.each(in.body, in.end, func(b box) error {
		switch b.name {
		case "edts", "mdia", "minf", "stbl":
			return m.track(t, b)
		case "stts":
			return m.durations(t, b)
		case "tkhd", "mdhd", "hdlr", "elst", "stsd":
		case "ctts":
			head := make(fields, min(16, b.end-b.body)) // the shift of the first samples
			err := m.At(b.body, head)
			t.first = int64(int32(head.u32(12)))
			return err
		default:
			return nil
		}
		f, err := m.leaf(b)
		times := 4 * (f.u8(0) & 1) // longer times
		switch b.name {
		case "tkhd":
			t.id, t.matrix = f.u32(12+2*times), f.matrix(40+3*times)
			t.width, t.height = f.u16(76+3*times), f.u16(80+3*times)
		case "mdhd":
			t.timescale = f.u32(12 + 2*times)
		case "hdlr":
			if t.kind == "" {
				t.kind = string(f.from(8)[:min(4, len(f.from(8)))])
			}
		case "elst":
			t.edits = editsOf(f)
		case "stsd":
			if t.entry = entryOf(t.kind, f); t.kind == "" {
				return audio.Unsupported("video/mp4: a track has its samples before its kind")
			}
		}
		return err
	})
}

// editsOf reads an edit list.
func editsOf(f fields) (all []edit) {
	const mostEdits = 1 << 12
	size := 12
	if f.u8(0) == 1 {
		size = 20
	}
	rest := f.from(8)
	for range min(f.u32(4), mostEdits) {
		if len(rest) < size {
			break
		}
		e := edit{units: uint64(rest.u32(0)), from: int64(int32(rest.u32(4))), slow: rest.u16(size-4) == 0}
		if size == 20 {
			e.units, e.from = rest.u64(0), int64(rest.u64(8))
		}
		all, rest = append(all, e), rest.from(size)
	}
	return all
}

// durations sums up the durations of samples in a table.
func (m *movie) durations(t *track, stts box) error {
	const counted = 8
	for all := m.table(stts, counted, 8); all.n > 0; all.n-- {
		n, err := all.u32()
		if err != nil {
			return err
		}
		each, err := all.u32()
		if err != nil {
			return err
		}
		t.samples += uint64(n)
		t.units = added(t.units, uint64(n)*uint64(each))
	}
	t.tabled = t.units
	return nil
}

// added returns a sum that does not become negative as a duration.
func added(a, b uint64) uint64 { return min(a+min(b, 1<<61), 1<<61) }

// fragment adds the samples of a fragment to its track.
func (m *movie) fragment(traf box) error {
	var t *track
	each := uint32(0)
	return m.each(traf.body, traf.end, func(b box) error {
		switch b.name {
		case "tfhd":
			f, err := m.leaf(b)
			at := slices.IndexFunc(m.tracks, func(t *track) bool { return t.id == f.u32(4) })
			if err != nil || at < 0 || m.tracks[at].kind != "vide" && m.tracks[at].kind != "soun" {
				return err
			}
			t, each = m.tracks[at], m.defaults[f.u32(4)]
			flags, next := f.u32(0), 8
			if flags&ownBase != 0 {
				next += 8
			}
			if flags&description != 0 {
				next += 4
			}
			if flags&duration != 0 {
				each = f.u32(next)
			}
		case "tfdt":
			f, err := m.leaf(b)
			if t != nil && t.samples == 0 {
				t.first = int64(f.units(4, f.u8(0) == 1))
			}
			return err
		case "trun":
			if t != nil {
				return m.samplesIn(t, b, each)
			}
		}
		return nil
	})
}

// samplesIn adds the samples of a run, which have a duration each if the run says none.
func (m *movie) samplesIn(t *track, trun box, each uint32) error {
	all := m.table(trun, 0, 4)
	flags, _ := all.u32()
	count, err := all.u32()
	for _, flag := range []uint32{ownOffset, firstFlags} {
		if flags&flag != 0 && err == nil {
			_, err = all.u32()
		}
	}
	const ownDuration, ownFlags, ownShift = 0x100, 0x400, 0x800
	begins := t.samples == 0
	t.samples += uint64(count)
	if flags&(ownDuration|ownShift) == 0 || err != nil {
		t.units = added(t.units, uint64(count)*uint64(each))
		return err
	}
	for ; count > 0; count-- {
		lasts := each
		for _, flag := range []uint32{ownDuration, eachSize, ownFlags, ownShift} {
			if flags&flag == 0 {
				continue
			}
			v, err := all.u32()
			switch {
			case err != nil:
				return err
			case flag == ownDuration:
				lasts = v
			case flag == ownShift && begins:
				t.first, begins = t.first+int64(int32(v)), false
			}
		}
		t.units = added(t.units, uint64(lasts))
	}
	return nil
}

// seconds returns the time of so many units of a scale.
func seconds(units int64, scale uint32) time.Duration {
	s := float64(units) / float64(max(scale, 1))
	return time.Duration(min(max(s, -2*maxLength.Seconds()), 2*maxLength.Seconds()) * float64(time.Second))
}

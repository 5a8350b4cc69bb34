package probe

import (
	"cmp"
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
	timescale     uint32   // units in a second
	claimedLength uint64   // the length in the headers
	matrix        [4]int32 // of all tracks
	tracks        []*track
	defaults      map[uint32]uint32 // the durations of the samples of tracks that say none
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
			m.claimedLength = max(m.claimedLength, f.units(16+2*times, times > 0))
			return err
		case "mehd":
			f, err := m.leaf(b)
			m.claimedLength = max(m.claimedLength, f.units(4, f.u8(0) == 1))
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

// fields are bytes of a box, whose numbers beyond the end are 0.
type fields []byte

func (f fields) from(at int) fields { return f[min(max(at, 0), len(f)):] }

func (f fields) u8(at int) int {
	if at >= len(f) {
		return 0
	}
	return int(f[at])
}

func (f fields) u16(at int) int { return f.u8(at)<<8 | f.u8(at+1) }

func (f fields) u32(at int) uint32 { return uint32(f.u16(at))<<16 | uint32(f.u16(at+2)) }

func (f fields) u64(at int) uint64 { return uint64(f.u32(at))<<32 | uint64(f.u32(at+4)) }

// boxes calls each with the boxes in the bytes. A broken one ends them: what lies behind it is not read.
func (f fields) boxes(each func(name string, body fields)) {
	for len(f) >= 8 {
		size := int(f.u32(0))
		if size < 8 || size > len(f) {
			return
		}
		each(string(f[4:8]), f[8:size])
		f = f[size:]
	}
}

// names are the codecs of the entries of tracks.
var names = map[string]media.Codec{
	"avc1": media.H264, "avc2": media.H264, "avc3": media.H264, "avc4": media.H264, "dva1": media.H264,
	"dvav": media.H264, "hvc1": media.HEVC, "hev1": media.HEVC, "dvh1": media.HEVC, "dvhe": media.HEVC,
	"vp08": media.VP8, "vp09": media.VP9, "av01": media.AV1, "mp4v": media.MPEG4,
	"mp4a": media.AAC, "ac-3": media.AC3, "ec-3": media.EAC3, "Opus": media.Opus, "fLaC": media.FLAC,
	"alac": media.ALAC, ".mp3": media.MP3, "samr": media.AMR, "sawb": media.AMR, "lpcm": media.PCM, "ipcm": media.PCM,
	"fpcm": media.PCM, "sowt": media.PCM, "twos": media.PCM, "in24": media.PCM, "in32": media.PCM, "fl32": media.PCM,
}

// objects are the codecs of MPEG-4's object types (ISO/IEC 14496-1, table 5).
var objects = map[int]media.Codec{
	0x20: media.MPEG4, 0x21: media.H264, 0x23: media.HEVC, 0x40: media.AAC, 0x60: media.MPEG2, 0x61: media.MPEG2,
	0x62: media.MPEG2, 0x63: media.MPEG2, 0x64: media.MPEG2, 0x65: media.MPEG2, 0x66: media.AAC, 0x67: media.AAC,
	0x68: media.AAC, 0x69: media.MP3, 0x6a: media.MPEG1, 0x6b: media.MP3, 0x6c: media.MJPEG,
}

// entry is the description of a track's samples.
type entry struct {
	picture media.Picture
	sound   media.Sound
}

// entryOf reads the first description of a track of pictures or sound.
func entryOf(kind string, stsd fields) (e entry) {
	first := true
	stsd.from(8).boxes(func(name string, body fields) {
		switch {
		case !first:
		case kind == "vide":
			e.picture = pictureOf(names[name], body)
		case kind == "soun":
			e.sound = soundOf(names[name], body)
		}
		first = false
	})
	return e
}

// samplings are the names of the samplings of colors by their number (chroma_format_idc).
var samplings = []string{"4:0:0", "4:2:0", "4:2:2", "4:4:4"}

// pictureOf reads an entry of pictures (ISO/IEC 14496-12, 12.1.3). The boxes of the file come before the headers of the
// codec.
func pictureOf(codec media.Codec, body fields) media.Picture {
	const counted = 78 // the fields before the boxes
	p := media.Picture{Codec: codec, Width: body.u16(24), Height: body.u16(26)}
	var own shape
	var said media.Colors
	ranged, aspect := false, 0.0
	body.from(counted).boxes(func(name string, b fields) {
		switch name {
		case "avcC":
			own = configOfH264(&p, b)
		case "hvcC":
			own = configOfHEVC(&p, b)
		case "av1C":
			own = configOfAV1(&p, b)
		case "vpcC":
			own = configOfVP(&p, b)
		case "esds":
			if object := objectOf(b); objects[object.u8(0)] != "" {
				p.Codec = objects[object.u8(0)]
			}
		case "pasp":
			aspect = ratio(int(b.u32(0)), int(b.u32(4)))
		case "colr":
			if kind := string(b[:min(4, len(b))]); kind == "nclx" || kind == "nclc" {
				said = media.Colors{Primaries: b.u16(4), Transfer: b.u16(6), Matrix: b.u16(8),
					Full: kind == "nclx" && b.u8(10)&0x80 != 0}
				ranged = kind == "nclx" && len(b) > 10
			}
		}
	})
	if own.width > 0 && own.height > 0 {
		p.Width, p.Height = own.width, own.height
	}
	if own.depth > 0 {
		p.Depth, p.Chroma = own.depth, samplings[own.chroma]
	}
	if p.Aspect = aspect; aspect == 0 {
		p.Aspect = own.aspect
	}
	p.Colors = resolved(said, own.colors, p)
	if p.Colors.Full = said.Full; !ranged && own.ranged {
		p.Colors.Full = own.colors.Full
	}
	if !ranged && !own.ranged && p.Codec == media.MJPEG {
		p.Colors.Full = true
	}
	return p
}

// resolved returns the colors that the boxes or else the codec say, and where both are silent those that players
// assume: BT.709 for pictures of high definition, and BT.601 for smaller ones.
func resolved(said, own media.Colors, p media.Picture) media.Colors {
	usual := media.ColorsBT601
	if p.Height >= 720 || p.Width >= 1280 {
		usual = media.ColorsBT709
	}
	if p.Codec == media.MJPEG {
		usual = media.ColorsBT601
	}
	one := func(said, own, usual int) int {
		for _, n := range []int{said, own} {
			if n > 0 && n != media.ColorsUnknown && n != 3 { // 0 and 3 are reserved
				return n
			}
		}
		return usual
	}
	c := media.Colors{Matrix: one(said.Matrix, own.Matrix, 0), Primaries: one(said.Primaries, own.Primaries, 0),
		Transfer: one(said.Transfer, own.Transfer, 0)}
	if c.Matrix == 0 {
		if c.Matrix = usual; c.Primaries == media.ColorsBT2020 {
			c.Matrix = media.ColorsBT2020
		}
	}
	if c.Primaries == 0 {
		if c.Primaries = usual; c.Matrix == media.ColorsBT2020 || c.Matrix == media.MatrixBT2020Const {
			c.Primaries = media.ColorsBT2020
		}
	}
	c.Transfer = cmp.Or(c.Transfer, media.ColorsBT709)
	return c
}

// profilesOfH264 are the names of the profiles of H.264.
var profilesOfH264 = map[int]string{66: "Baseline", 77: "Main", 88: "Extended", 100: "High", 110: "High 10",
	122: "High 4:2:2", 244: "High 4:4:4 Predictive", 44: "CAVLC 4:4:4 Intra"}

func configOfH264(p *media.Picture, b fields) (s shape) {
	p.Profile, p.Level = profilesOfH264[b.u8(1)], b.u8(3)
	if p.Profile == "Baseline" && b.u8(2)&0x40 != 0 {
		p.Profile = "Constrained Baseline"
	}
	if b.u8(5)&0x1f == 0 { // the sets are in the stream
		return s
	}
	n := b.u16(6)
	s, ok := shapeOfH264(b.from(8)[:min(n, len(b.from(8)))])
	if !ok {
		return shape{}
	}
	return s
}

// profilesOfHEVC are the names of the profiles of HEVC.
var profilesOfHEVC = map[int]string{1: "Main", 2: "Main 10", 3: "Main Still Picture", 4: "Range Extensions"}

func configOfHEVC(p *media.Picture, b fields) shape {
	p.Profile, p.Level = profilesOfHEVC[b.u8(1)&0x1f], b.u8(12)/3
	said := shape{chroma: b.u8(16) & 3, depth: 8 + b.u8(17)&7}
	rest := b.from(23)
	for range b.u8(22) {
		kind, n := rest.u8(0)&0x3f, rest.u16(1)
		rest = rest.from(3)
		for range n {
			size := rest.u16(0)
			nal := rest.from(2)
			nal = nal[:min(size, len(nal))]
			rest = rest.from(2 + size)
			if s, ok := shapeOfHEVC(nal); kind == 33 && ok {
				return s
			}
		}
	}
	return said
}

// configOfAV1 reads the configuration of AV1, whose sequence header has the colors.
func configOfAV1(p *media.Picture, b fields) (s shape) {
	p.Profile = []string{"Main", "High", "Professional", ""}[min(b.u8(1)>>5, 3)]
	if n := b.u8(1) & 0x1f; n < 24 {
		p.Level = 10*(2+n/4) + n%4
	}
	flags := b.u8(2)
	s.depth = 8 + flags>>5&2 + flags>>4&2
	switch {
	case flags&0x10 != 0:
	case flags&0x0c == 0x0c:
		s.chroma = 1
	case flags&0x08 != 0:
		s.chroma = 2
	default:
		s.chroma = 3
	}
	s.ofAV1(b.from(4))
	return s
}

// configOfVP reads the configuration of VP8 and VP9.
func configOfVP(p *media.Picture, b fields) (s shape) {
	p.Profile, p.Level = string(rune('0'+b.u8(4)&3)), b.u8(5)
	s.depth, s.ranged = b.u8(6)>>4, true
	s.chroma = []int{1, 1, 2, 3}[min(b.u8(6)>>1&7, 3)]
	s.colors = media.Colors{Full: b.u8(6)&1 != 0, Primaries: b.u8(7), Transfer: b.u8(8), Matrix: b.u8(9)}
	return s
}

// soundOf reads an entry of sound (ISO/IEC 14496-12, 12.2.3).
func soundOf(codec media.Codec, body fields) media.Sound {
	s := media.Sound{Codec: codec, Channels: body.u16(16), Rate: body.u16(24)}
	counted := []int{28, 44, 64}[min(body.u16(8), 2)] // QuickTime has more fields in later versions
	var within func(name string, b fields)
	within = func(name string, b fields) {
		switch name {
		case "wave":
			b.boxes(within)
		case "esds":
			described(&s, objectOf(b))
		}
	}
	body.from(counted).boxes(within)
	return s
}

// rates are the rates of AAC by their number, in samples a second.
var rates = []int{96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350}

// described notes what the description of a decoder says of sound.
func described(s *media.Sound, object fields) {
	if codec := objects[object.u8(0)]; codec != "" {
		s.Codec = codec
	}
	if s.Codec != media.AAC {
		return
	}
	const settings = 13
	config := object.from(settings)
	n, skip := length(config.from(1))
	if config.u8(0) != 5 || n == 0 { // there is no AudioSpecificConfig
		return
	}
	r := &bits{b: config.from(1 + skip)}
	kind := r.u(5)
	rate := r.rate()
	channels := r.u(4)
	if s.Profile = map[int]string{1: "Main", 2: "LC", 3: "SSR", 4: "LTP", 5: "HE", 29: "HEv2", 23: "LD",
		39: "ELD", 42: "xHE"}[kind]; kind == 5 || kind == 29 {
		rate = r.rate()
	}
	if rate > 0 {
		s.Rate = rate
	}
	if channels > 0 && channels < 8 {
		s.Channels = channels + channels/7 // 7 means eight
	}
}

func (r *bits) rate() int {
	n := r.u(4)
	switch {
	case n == 15:
		return r.u(24)
	case n < len(rates):
		return rates[n]
	}
	return 0
}

// objectOf returns the configuration of the decoder in a description of a stream (ISO/IEC 14496-1, 7.2.6.5).
func objectOf(esds fields) fields {
	b := esds.from(4)
	if b.u8(0) != 3 {
		return nil
	}
	_, skip := length(b.from(1))
	b = b.from(1 + skip)
	flags := b.u8(2)
	b = b.from(3)
	if flags&0x80 != 0 {
		b = b.from(2)
	}
	if flags&0x40 != 0 {
		b = b.from(1 + b.u8(0))
	}
	if flags&0x20 != 0 {
		b = b.from(2)
	}
	if b.u8(0) != 4 {
		return nil
	}
	_, skip = length(b.from(1))
	return b.from(1 + skip)
}

// length reads the length of a descriptor, and returns the number of its bytes.
func length(b fields) (n, skip int) {
	for skip < 4 {
		c := b.u8(skip)
		skip++
		n = n<<7 | c&0x7f
		if c&0x80 == 0 {
			break
		}
	}
	return n, skip
}

// picture returns the track of the pictures, and its place among such tracks: the largest one with several samples. A
// cover is a track with one.
func (m *movie) picture() (shown *track, place int) {
	size := func(t *track) int {
		p := t.entry.picture
		if t.samples > 1 {
			return max(p.Width*p.Height, 1) << 1
		}
		return min(p.Width*p.Height, 1)
	}
	n := 0
	for _, t := range m.tracks {
		if t.kind != "vide" {
			continue
		}
		if shown == nil || size(t) > size(shown) {
			shown, place = t, n
		}
		n++
	}
	return shown, place
}

// heard returns the first track of sound, or nil.
func (m *movie) heard() *track {
	for _, t := range m.tracks {
		if t.kind == "soun" {
			return t
		}
	}
	return nil
}

// priming is more than what a codec needs to begin: two frames of sound with their extension (SBR), or the frames
// before the first one that is shown. Tracks that begin or end so close to each other belong together.
const priming = 100 * time.Millisecond

// lasting returns the length of what is seen and heard. The headers decide only for a file whose samples nobody tells.
func (m *movie) lasting(shown *track) time.Duration {
	start, _ := m.start(shown)
	sound, least := m.heard(), start
	if sound != nil {
		at, _ := m.start(sound)
		least = min(start, at)
	}
	end := func(t *track) time.Duration {
		at, _ := m.start(t)
		if at -= least; at <= priming {
			at = 0
		}
		return at + m.plays(t)
	}
	length := end(shown)
	if sound != nil && end(sound) > length+priming {
		length = end(sound)
	}
	if shown.units == 0 {
		length = max(length, seconds(int64(m.claimedLength), m.timescale))
	}
	return length
}

// plays returns the length of a track without pauses: of the parts in its edit list, as far as there are samples for
// them, or of its samples.
func (m *movie) plays(t *track) (sum time.Duration) {
	all := seconds(int64(t.units), t.timescale)
	if len(t.edits) == 0 {
		return all
	}
	begun := false
	for _, e := range t.edits {
		long := seconds(int64(min(e.units, math.MaxInt64)), m.timescale)
		if e.from < 0 || e.slow {
			if begun || e.slow {
				sum += long
			}
			continue
		}
		begun = true
		left := max(all+seconds(t.first-e.from, t.timescale), 0)
		// Fragments come after what the list knows of: 0 is the rest, and some programs write what was there then.
		if open := t.units > t.tabled && len(t.edits) <= 2; e.units == 0 || open {
			long = left
		}
		sum += min(long, left)
	}
	return sum
}

// start returns the time at which the first sample of a track is seen or heard, and what is left out before it.
func (m *movie) start(t *track) (at, skipped time.Duration) {
	first := seconds(t.first, t.timescale)
	for _, e := range t.edits {
		if e.from < 0 {
			at += seconds(int64(min(e.units, math.MaxInt64)), m.timescale)
			continue
		}
		from := seconds(e.from, t.timescale)
		return at + max(first-from, 0), max(from-first, 0)
	}
	return at + first, 0
}

// edited reports whether the edit list of a track matters: it has several parts, leaves out more than a codec needs to
// begin, or ends before the samples do. A pause matters if it is that of one track alone, which the starts tell.
func (m *movie) edited(t *track) bool {
	parts, end := 0, time.Duration(0)
	for _, e := range t.edits {
		if e.from < 0 {
			continue
		}
		parts++
		end = seconds(e.from, t.timescale) + seconds(int64(min(e.units, math.MaxInt64)), m.timescale)
		if e.units == 0 {
			end = math.MaxInt64
		}
		if e.slow {
			return true
		}
	}
	if parts == 0 {
		return false
	}
	_, skipped := m.start(t)
	late := seconds(int64(t.units)+t.first, t.timescale)-end > priming && t.units == t.tabled
	return parts > 1 || skipped > priming || late
}

// describe returns the description of the movie. The track that begins first begins at 0, as in players.
func (m *movie) describe(shown *track, place int) media.Movie {
	p := shown.entry.picture
	p.Track = place
	if p.Width == 0 || p.Height == 0 {
		p.Width, p.Height = shown.width, shown.height
	}
	p.Turn, p.Mirrored = turned(shown.matrix, m.matrix)
	if p.Aspect == 0 {
		p.Aspect = scaled(p, shown.width, shown.height)
	}
	if p.Aspect == 1 {
		p.Aspect = 0
	}
	if length := seconds(int64(shown.units), shown.timescale); length > 0 {
		p.Rate = math.Round(float64(shown.samples)/length.Seconds()*1000) / 1000
	}
	found := media.Movie{Picture: p, Edited: m.edited(shown)}
	start, _ := m.start(shown)
	t := m.heard()
	if t == nil {
		return found
	}
	found.Sound = t.entry.sound
	found.Sound.Codec = cmp.Or(found.Sound.Codec, "unknown")
	sound, _ := m.start(t)
	least := min(start, sound)
	found.Picture.Start, found.Sound.Start = start-least, sound-least
	paused := max(start, sound)-least > unnoticed && (m.paused(shown) || m.paused(t))
	found.Edited = found.Edited || m.edited(t) || paused
	return found
}

// paused reports whether a track begins with a pause.
func (m *movie) paused(t *track) bool { return len(t.edits) > 0 && t.edits[0].from < 0 }

// turned returns the quarters by which the matrices of a track and of its movie turn it, clockwise, and whether they
// mirror it before that.
func turned(t, m [4]int32) (quarters int, mirrored bool) {
	one := func(a [4]int32) (f [4]float64) {
		if a == [4]int32{} { // some programs write none
			a = [4]int32{1, 0, 0, 1}
		}
		for i, n := range a {
			f[i] = float64(n)
		}
		return f
	}
	p, q := one(t), one(m)
	a, b := p[0]*q[0]+p[1]*q[2], p[0]*q[1]+p[1]*q[3]
	c, d := p[2]*q[0]+p[3]*q[2], p[2]*q[1]+p[3]*q[3]
	if a*d-b*c < 0 {
		mirrored, a, b = true, -a, -b
	}
	switch {
	case math.Abs(a) >= math.Abs(b) && a >= 0:
		return 0, mirrored
	case math.Abs(a) >= math.Abs(b):
		return 2, mirrored
	case b > 0:
		return 1, mirrored
	}
	return 3, mirrored
}

// scaled returns the aspect of the pixels of a track that is to be shown in another proportion than it is stored, or 0.
// Some programs write the size after a turn.
func scaled(p media.Picture, width, height int) float64 {
	a := ratio(width*p.Height, height*p.Width)
	b := ratio(height*p.Height, width*p.Width)
	const same = 0.02
	if a == 0 || math.Abs(a-1) < same || p.Turn%2 == 1 && math.Abs(b-1) < same {
		return 0
	}
	const most = 2.5 // of the formats of television
	if a > most || a < 1/most {
		return 0
	}
	return a
}

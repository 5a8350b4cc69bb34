package probe

import "github.com/content-automation/api/pkg/media"

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
	if c.Transfer == 0 {
		c.Transfer = media.ColorsBT709
	}
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

// rates are those of AAC by their number, in samples a second.
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

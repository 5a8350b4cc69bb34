package audio

import (
	"encoding/binary"
	"slices"
	"time"
)

// movie is the data about sound in the boxes of an MP4.
type movie struct {
	length time.Duration // that it claims
	tracks []*track
	now    *track // the one whose boxes are read
	boxes  int
}

// track is a track of a movie.
type track struct {
	id      int64
	handler string
	codec   string
	length  time.Duration // that it claims
	frames  int64
	entries int64       // descriptions of its samples
	configs []aacConfig // of the decoder
}

// maxBoxes bounds the boxes that are read, and maxLength the claimed length of a file.
const (
	maxBoxes  = 1 << 12
	maxLength = 24 * time.Hour
)

// The kinds of tracks. A track of stills, as podcasts have for their chapters, has one of the codecs.
const handlerSound, handlerVideo = "soun", "vide"

var stills = []string{"jpeg", "png ", "mjpa", "mjpb"}

// codecNames are the names of codecs of sound that are not AAC, for messages.
var codecNames = map[string]string{"alac": "Apple Lossless", "ac-3": "Dolby AC-3", "ec-3": "Dolby E-AC-3",
	"Opus": "Opus", "fLaC": "FLAC", "samr": "AMR", "sawb": "AMR", ".mp3": "MP3", "mha1": "MPEG-H", "mhm1": "MPEG-H",
	"ac-4": "Dolby AC-4", "lpcm": "PCM", "sowt": "PCM", "twos": "PCM", "ipcm": "PCM"}

// m4a reads an MP4 with one track of AAC, perhaps in fragments, and without a video: chapters, covers and texts are no
// sound. Its length is the longest of the lengths that its boxes claim and of the duration of its frames, at the rate
// at which a decoder plays them.
func m4a(content []byte) (Sound, error) {
	var m movie
	if err := m.walk(content, ""); err != nil {
		return Sound{}, err
	}
	var t *track
	for _, other := range m.tracks {
		switch {
		case other.handler == handlerVideo && !slices.Contains(stills, other.codec):
			return Sound{}, Unsupported("audio/mp4 with a video")
		case other.handler != handlerSound:
		case t != nil:
			return Sound{}, Refuse("The M4A has more than one track of sound. Save it again with one.")
		default:
			t = other
		}
	}
	switch {
	case t == nil:
		return Sound{}, Unsupported("audio/mp4 without sound")
	case codecNames[t.codec] != "":
		return Sound{}, Refuse("The sound of the MP4 is %s. Convert it to M4A with AAC, MP3 or WAV.",
			codecNames[t.codec])
	case t.entries != 1 || len(t.configs) != 1 || t.frames == 0:
		return Sound{}, Unsupported("audio/mp4 with %d descriptions, %d decoders and %d frames", t.entries,
			len(t.configs), t.frames)
	}
	length := max(t.length, playing(t.frames*t.configs[0].samples, t.configs[0].rate))
	if len(m.tracks) == 1 { // that of a movie is the length of its longest track
		length = max(length, m.length)
	}
	if length <= 0 || length > maxLength {
		return Sound{}, Unsupported("audio/mp4 of %v", length)
	}
	return Sound{MIMEType: "audio/mp4", Ext: "m4a", Duration: length, spans: []span{{0, int64(len(content))}}}, nil
}

// walk reads the boxes of a part of the file.
func (m *movie) walk(content []byte, path string) error {
	for len(content) >= 8 {
		if m.boxes++; m.boxes > maxBoxes {
			return Unsupported("audio/mp4 of more than %d boxes", maxBoxes)
		}
		size, header := uint64(binary.BigEndian.Uint32(content)), uint64(8)
		switch {
		case size == 0: // to the end
			size = uint64(len(content))
		case size == 1 && len(content) >= 16:
			size, header = binary.BigEndian.Uint64(content[8:]), 16
		}
		if size < header || size > uint64(len(content)) {
			return Unsupported("audio/mp4: a box in %q claims %d of %d bytes", path, size, len(content))
		}
		if err := m.box(path+"/"+string(content[4:8]), content[header:size]); err != nil {
			return err
		}
		content = content[size:]
	}
	return nil
}

func (m *movie) box(path string, body []byte) error {
	u32 := func(at int) int64 {
		if at+4 > len(body) {
			return 0
		}
		return int64(binary.BigEndian.Uint32(body[at:]))
	}
	const media, entry = "/moov/trak/mdia", "/moov/trak/mdia/minf/stbl/stsd/mp4a"
	t := m.now
	switch path {
	case "/moov/trak":
		m.now = &track{}
		m.tracks = append(m.tracks, m.now)
		return m.walk(body, path)
	case "/moov", media, media + "/minf", media + "/minf/stbl", "/moof", "/moof/traf":
		return m.walk(body, path)
	case "/moov/trak/tkhd":
		if t.id = u32(12); len(body) > 0 && body[0] == 1 { // 64 bits
			t.id = u32(20)
		}
	case "/moov/mvhd":
		m.length = claimedLength(body, u32)
	case media + "/mdhd":
		t.length = claimedLength(body, u32)
	case media + "/hdlr":
		if len(body) >= 12 {
			t.handler = string(body[8:12])
		}
	case media + "/minf/stbl/stsz":
		t.frames += u32(8)
	case "/moof/traf/tfhd":
		m.now = &track{} // of no meaning
		for _, t := range m.tracks {
			if t.id == u32(4) {
				m.now = t
			}
		}
	case "/moof/traf/trun":
		if t != nil {
			t.frames += u32(4)
		}
	case media + "/minf/stbl/stsd":
		if t.entries = u32(4); len(body) >= 16 {
			t.codec = string(body[12:16])
		}
		return m.walk(body[min(8, len(body)):], path)
	case entry:
		// Boxes follow its fields, whose rate no decoder reads. The second version of QuickTime has four more fields.
		const fields, version, more = 28, 8, 16
		skip := fields
		if len(body) > version+1 && binary.BigEndian.Uint16(body[version:]) == 1 {
			skip += more
		}
		return m.walk(body[min(skip, len(body)):], path)
	case entry + "/wave":
		return m.walk(body, path)
	case entry + "/esds", entry + "/wave/esds":
		config, err := readESDS(body)
		t.configs = append(t.configs, config)
		return err
	}
	return nil
}

// claimedLength returns the length that the header of a movie or of a media has, or 0.
func claimedLength(body []byte, u32 func(int) int64) time.Duration {
	rate, units := u32(12), u32(16)
	if len(body) > 0 && body[0] == 1 { // 64 bits
		rate, units = u32(20), u32(24)<<32|u32(28)
	}
	if rate <= 0 || units <= 0 || units == 1<<32-1 {
		return 0
	}
	return min(playing(units, rate), 2*maxLength)
}

// Package audio reads the length of sound from its content: of MP3, WAV, AAC and M4A. It counts instead of trusting the
// file's own claims. Start with Speech.
package audio

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// ErrUnsupported is wrapped by every error about the content: its format is unknown, or it is broken. Errors of reading
// the file do not wrap it.
var ErrUnsupported = errors.New("unsupported media")

// Sound describes the sound of a file.
type Sound struct {
	MIMEType string
	Ext      string // of a file name, without the dot
	Duration time.Duration
	// spans are the ranges of bytes that were read as sound. The bytes outside of them are not needed to play it.
	spans []span
	// repair changes what is kept so that it agrees with itself. It is nil if nothing is to be changed.
	repair func([]byte) []byte
	// claimed reports whether the length is only claimed by the file, as that of a compressed WAV is.
	claimed bool
	// codec is the name of its compression, if it is known.
	codec string
}

// Speech reads a recording in memory, and returns it without the bytes around its sound: a player would find other
// sound there, or notes. The length is that of the bytes that are returned.
func Speech(content []byte) (Sound, []byte, error) {
	f := File{bytes.NewReader(content), int64(len(content))}
	has := func(offset int, magic string) bool {
		return len(content) >= offset+len(magic) && string(content[offset:offset+len(magic)]) == magic
	}
	var s Sound
	var err error
	switch {
	case has(8, "WAVE") && (has(0, "RIFF") || has(0, "RF64")):
		s, err = f.WAV()
	case has(4, "ftyp"):
		s, err = m4a(content)
	case len(content) > 1 && content[0] == 0xff && content[1]&0xf6 == 0xf0:
		s, err = f.aac()
	default:
		if s, err = f.MP3(); errors.Is(err, ErrUnsupported) {
			if other, failed := f.aac(); failed == nil { // behind a tag
				s, err = other, nil
			}
		}
	}
	if err == nil && s.codec != "" {
		err = convertible(s.codec)
	}
	if err == nil && (s.claimed || s.Duration <= 0) {
		err = Unsupported("%s of a length that cannot be measured", s.MIMEType)
	}
	if err != nil {
		return Sound{}, nil, err
	}
	return s, s.kept(content), nil
}

// kept returns the bytes of the sound.
func (s Sound) kept(content []byte) []byte {
	if len(s.spans) == 1 && s.repair == nil {
		return content[s.spans[0].from:s.spans[0].to]
	}
	var kept []byte
	for _, p := range s.spans {
		kept = append(kept, content[p.from:p.to]...)
	}
	if s.repair != nil {
		kept = s.repair(kept)
	}
	return kept
}

// File is a file that is being read.
type File struct {
	R    io.ReaderAt
	Size int64
}

// At fills buf from the offset. A file that ends too early is broken content. The error of a failing reader is not.
func (f File) At(offset int64, buf []byte) error {
	if offset < 0 || offset+int64(len(buf)) > f.Size {
		return Unsupported("it ends at %d of the %d bytes it needs", f.Size, offset+int64(len(buf)))
	}
	// A ReaderAt may return io.EOF with the last byte that was requested.
	if n, err := f.R.ReadAt(buf, offset); n < len(buf) {
		return fmt.Errorf("media: read at %d: %w", offset, err)
	}
	return nil
}

// Unsupported returns an error that wraps ErrUnsupported.
func Unsupported(format string, args ...any) error {
	return fmt.Errorf("media: %s: %w", fmt.Sprintf(format, args...), ErrUnsupported)
}

// Refuse returns an error that wraps ErrUnsupported, with a sentence for callers.
func Refuse(format string, args ...any) error {
	return &Refusal{fmt.Sprintf(format, args...)}
}

// Refusal is the error of a recording that cannot be used as it is.
type Refusal struct {
	// Message is a sentence for callers. It says what the file is and what to do.
	Message string
}

// Error returns the message, after the name of the package.
func (r *Refusal) Error() string { return "media: " + r.Message }

// Unwrap returns ErrUnsupported.
func (r *Refusal) Unwrap() error { return ErrUnsupported }

// ErrorReader keeps the reader's own error, which a decoder would report as broken content.
type ErrorReader struct {
	R   io.Reader
	Err error
}

// Read implements io.Reader.
func (w *ErrorReader) Read(p []byte) (int, error) {
	n, err := w.R.Read(p)
	if err != nil && err != io.EOF {
		w.Err = err
	}
	return n, err
}

// aacRates are the sample rates of AAC, by their index.
var aacRates = [16]int{96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350}

// aacSamples is the number of samples in a block of AAC.
const aacSamples = 1024

// adtsHeader reads the header of a frame of AAC in ADTS.
func adtsHeader(h []byte) (frame, bool) {
	if len(h) < 7 || h[0] != 0xff || h[1]&0xf6 != 0xf0 {
		return frame{}, false
	}
	fr := frame{length: int(h[3]&3)<<11 | int(h[4])<<3 | int(h[5]>>5), samples: (int(h[6]&3) + 1) * aacSamples,
		sampleRate: aacRates[h[2]>>2&15]}
	return fr, fr.sampleRate != 0 && fr.length >= 7
}

// aac reads a stream of AAC in ADTS frame by frame, as MP3 does.
func (f File) aac() (Sound, error) {
	s := scan{name: "AAC", header: adtsHeader, notes: func(*bufio.Reader, frame) bool { return false }}
	if err := s.read(f); err != nil {
		return Sound{}, err
	}
	return Sound{MIMEType: "audio/aac", Ext: "aac", Duration: playing(s.samples, int64(s.rate)), spans: s.spans}, nil
}

// playing returns the time for which samples play at a rate.
func playing(n, rate int64) time.Duration {
	return time.Duration(float64(n) / float64(rate) * float64(time.Second))
}

// aacConfig is the configuration of a decoder of AAC (AudioSpecificConfig, ISO/IEC 14496-3).
type aacConfig struct {
	rate    int64 // samples a second
	samples int64 // of a frame
}

// The supported types of AAC: those whose frames have 1024 or 960 samples, and the two extensions of these (HE-AAC),
// which have the same duration.
const (
	aacMain, aacLTP = 1, 4
	aacSBR, aacPS   = 5, 29
	aacEscape       = 31 // the type follows
)

// The rates of AAC, in samples a second.
const aacLowest, aacHighest = 7350, 96000

// Tags of descriptors (ISO/IEC 14496-1).
const (
	tagStream  = 3
	tagDecoder = 4
	tagConfig  = 5
)

// aacType is the object type of MPEG-4 audio.
const aacType = 0x40

// readESDS reads the decoder's configuration from the box that describes a stream.
func readESDS(box []byte) (aacConfig, error) {
	const version, streamFields, decoderFields = 4, 3, 13
	broken := Unsupported("audio/mp4 without a description of its decoder")
	stream, ok := descriptor(box[min(version, len(box)):], tagStream)
	if !ok || len(stream) < streamFields || stream[2]&0xe0 != 0 { // it depends on other streams
		return aacConfig{}, broken
	}
	decoder, ok := descriptor(stream[streamFields:], tagDecoder)
	if !ok || len(decoder) < decoderFields || decoder[0] != aacType {
		return aacConfig{}, broken
	}
	config, ok := descriptor(decoder[decoderFields:], tagConfig)
	if !ok {
		return aacConfig{}, broken
	}
	return readASC(config)
}

// descriptor returns the content of the descriptor at the start of b, if it has the tag.
func descriptor(b []byte, tag byte) ([]byte, bool) {
	if len(b) == 0 || b[0] != tag {
		return nil, false
	}
	length := 0
	for i := 1; i < len(b) && i <= 4; i++ {
		length = length<<7 | int(b[i]&0x7f)
		if b[i]&0x80 == 0 {
			return b[i+1 : min(i+1+length, len(b))], i+1+length <= len(b)
		}
	}
	return nil, false
}

func readASC(b []byte) (aacConfig, error) {
	r := bits{b: b}
	is := r.aacType()
	c := aacConfig{rate: r.aacRate()}
	r.read(4) // channels
	if is == aacSBR || is == aacPS {
		r.aacRate() // of the extension
		is = r.aacType()
	}
	switch short := r.read(1); {
	case r.over || is < aacMain || is > aacLTP:
		return c, Unsupported("audio/mp4 of a type of AAC that cannot be measured: %d", is)
	case c.rate < aacLowest || c.rate > aacHighest:
		return c, Unsupported("audio/mp4 of %d samples a second", c.rate)
	case short == 1:
		c.samples = 960
	default:
		c.samples = aacSamples
	}
	return c, nil
}

// bits reads numbers of a few bits each.
type bits struct {
	b    []byte
	at   int
	over bool // more was read than exists
}

func (r *bits) read(n int) (v int64) {
	for range n {
		v <<= 1
		if r.at/8 >= len(r.b) {
			r.over = true
			continue
		}
		v |= int64(r.b[r.at/8]>>(7-r.at%8)) & 1
		r.at++
	}
	return v
}

func (r *bits) aacType() int64 {
	if is := r.read(5); is != aacEscape {
		return is
	}
	return 32 + r.read(6)
}

func (r *bits) aacRate() int64 {
	if i := r.read(4); i != 15 {
		return int64(aacRates[i])
	}
	return r.read(24)
}

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

// The codes of formats of WAV whose samples have a fixed size: integers, floating point, the two logarithmic ones of
// telephones (ITU-T G.711), and any of them described by an extension; and of compressed ones, whose blocks have one.
const (
	wavPCM        = 1
	wavFloat      = 3
	wavALaw       = 6
	wavMuLaw      = 7
	wavExtensible = 0xfffe

	wavADPCM = 2
	wavIMA   = 0x11
	wavGSM   = 0x31
)

// wavNames are the names of compressed formats, for messages.
var wavNames = map[int64]string{wavADPCM: "Microsoft ADPCM", wavIMA: "IMA ADPCM", wavGSM: "GSM", 0x50: "MPEG",
	0x55: "MP3", 0xff: "AAC", 0x161: "Windows Media Audio"}

// The bounds of sound in a WAV. No recording exceeds them, and players refuse more.
const (
	maxChannels      = 8
	minRate, maxRate = 1000, 384_000 // samples a second
	maxDepth         = 64            // bits
)

// wavFormat is the description of the samples of a WAV.
type wavFormat struct {
	span     // with its header
	code     int64
	byteRate int64
	claimed  bool // the byte rate is only claimed

}

// WAV reads a RIFF/WAVE file. Its length follows from the size of the data chunk and of its samples, and for a
// compressed file from the byte rate that it claims.
func (f File) WAV() (Sound, error) {
	const first, header = 12, 8
	var head [first]byte
	if err := f.At(0, head[:]); err != nil {
		return Sound{}, err
	}
	var format wavFormat
	// The header is followed by chunks: a name, a length, and that many bytes, padded to an even number.
	for offset, n := int64(first), 0; ; n++ {
		if n > maxBoxes {
			return Sound{}, Unsupported("audio/wav of more than %d chunks", maxBoxes)
		}
		var chunk [header]byte
		if err := f.At(offset, chunk[:]); err != nil {
			return Sound{}, err
		}
		name, length := string(chunk[:4]), int64(binary.LittleEndian.Uint32(chunk[4:]))
		offset += header
		switch name {
		case "fmt ":
			var err error
			if format, err = f.wavFormat(offset, length); err != nil {
				return Sound{}, err
			}
		case "data":
			if format.byteRate == 0 && wavNames[format.code] == "" {
				return Sound{}, Unsupported("audio/wav without a byte rate before its data")
			}
			// A recorder that was cut off, or that wrote a stream, has left 0 or the greatest number in the lengths.
			riff := int64(binary.LittleEndian.Uint32(head[4:]))
			if length == 0 && riff != f.Size-header {
				length = f.Size - offset
			}
			if format.byteRate == 0 {
				return Sound{}, convertible(wavNames[format.code])
			}
			return format.sound(span{offset, offset + min(length, f.Size-offset)}), nil
		}
		offset += length + length%2
	}
}

// wavFormat reads the chunk that describes the samples.
func (f File) wavFormat(at, length int64) (wavFormat, error) {
	const plain, extended, header = 16, 26, 8
	if length < plain {
		return wavFormat{}, Unsupported("audio/wav with a description of %d bytes", length)
	}
	b := make([]byte, min(length, extended))
	if err := f.At(at, b); err != nil {
		return wavFormat{}, err
	}
	u16 := func(at int) int64 { return int64(binary.LittleEndian.Uint16(b[at:])) }
	channels, rate := u16(2), int64(binary.LittleEndian.Uint32(b[4:]))
	if channels < 1 || channels > maxChannels || rate < minRate || rate > maxRate {
		return wavFormat{}, Refuse("The WAV has %d channels and %d samples a second. It may have %d channels and %d "+
			"samples a second at most. Save it again with fewer.", channels, rate, maxChannels, maxRate)
	}
	is := wavFormat{span: span{at - header, at + length + length%2}, code: u16(0), claimed: true,
		byteRate: int64(binary.LittleEndian.Uint32(b[8:]))}
	if is.code == wavExtensible && len(b) == extended {
		is.code = u16(24)
	}
	depth := u16(14)
	switch is.code {
	case wavPCM, wavFloat, wavExtensible:
	case wavALaw, wavMuLaw:
		if depth != 8 {
			return is, Unsupported("audio/wav of %d logarithmic bits a sample", depth)
		}
	case wavADPCM, wavIMA, wavGSM:
		// Writers disagree on the byte rate of these formats. Their blocks have a fixed number of samples.
		const samples = 18
		if len(b) >= samples+2 && u16(samples) > 0 {
			is.byteRate = rate * u16(12) / u16(samples)
		}
		return is, nil
	default:
		return is, nil
	}
	if depth < 1 || depth > maxDepth {
		return is, Unsupported("audio/wav of %d bits a sample", depth)
	}
	is.byteRate, is.claimed = rate*channels*((depth+7)/8), false
	return is, nil
}

// convertible returns the error for a WAV of a codec that is not accepted.
func convertible(codec string) error {
	return Refuse("The sound of the WAV is %s. Convert it to WAV with PCM, or to MP3.", codec)
}

// sound returns the description of a file whose samples are in a span.
func (w wavFormat) sound(data span) Sound {
	s := Sound{MIMEType: "audio/wav", Ext: "wav", Duration: playing(data.to-data.from, w.byteRate),
		claimed: w.claimed, spans: []span{w.span, data}, codec: wavNames[w.code]}
	s.repair = func(kept []byte) []byte { return w.file(kept) }
	return s
}

// file returns a WAV of a description and samples, with the lengths that they have. Logarithmic samples become linear
// ones of 16 bits, which every player and platform knows.
func (w wavFormat) file(kept []byte) []byte {
	format, data := kept[:w.to-w.from], kept[w.to-w.from:]
	if w.code == wavALaw || w.code == wavMuLaw {
		format, data = linear(format), expand(data, w.code == wavALaw)
	}
	const header = 8
	file := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(4+len(format)+header+len(data)+len(data)%2))
	file = append(append(file, "WAVE"...), format...)
	file = binary.LittleEndian.AppendUint32(append(file, "data"...), uint32(len(data)))
	return append(append(file, data...), make([]byte, len(data)%2)...)
}

// linear returns the description of 16-bit samples of the same rate and channels.
func linear(format []byte) []byte {
	const header, plain, bytesEach = 8, 16, 2
	channels, rate := binary.LittleEndian.Uint16(format[header+2:]), binary.LittleEndian.Uint32(format[header+4:])
	out := bytes.Clone(format[:header+plain])
	binary.LittleEndian.PutUint32(out[4:], plain)
	binary.LittleEndian.PutUint16(out[header:], wavPCM)
	binary.LittleEndian.PutUint32(out[header+8:], rate*uint32(channels)*bytesEach)
	binary.LittleEndian.PutUint16(out[header+12:], channels*bytesEach)
	binary.LittleEndian.PutUint16(out[header+14:], 8*bytesEach)
	return out
}

// expand returns logarithmic samples as linear ones (ITU-T G.711).
func expand(data []byte, aLaw bool) []byte {
	out := make([]byte, 0, 2*len(data))
	for _, b := range data {
		v := fromMuLaw(b)
		if aLaw {
			v = fromALaw(b)
		}
		out = binary.LittleEndian.AppendUint16(out, uint16(v))
	}
	return out
}

func fromMuLaw(b byte) int16 {
	const bias = 0x84
	b = ^b
	v := (int16(b&15)<<3+bias)<<(b>>4&7) - bias
	if b&0x80 != 0 {
		return -v
	}
	return v
}

func fromALaw(b byte) int16 {
	b ^= 0x55
	v := int16(b&15)<<4 + 8
	if segment := b >> 4 & 7; segment > 0 {
		v = (v + 0x100) << (segment - 1)
	}
	if b&0x80 == 0 {
		return -v
	}
	return v
}

package audio

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

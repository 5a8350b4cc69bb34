package audio

import (
	"bytes"
	"encoding/binary"
)

// The codes of formats of WAV whose samples have a fixed size: integers, floating point, the two logarithmic ones of
// telephones (ITU-T G.711), and any of them described by an extension.
const (
	wavPCM        = 1
	wavFloat      = 3
	wavALaw       = 6
	wavMuLaw      = 7
	wavExtensible = 0xfffe
)

// wavNames are the names of compressed formats, for messages.
var wavNames = map[int64]string{2: "Microsoft ADPCM", 0x11: "IMA ADPCM", 0x31: "GSM", 0x50: "MPEG", 0x55: "MP3",
	0xff: "AAC", 0x161: "Windows Media Audio"}

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
			if format.byteRate == 0 {
				return Sound{}, Unsupported("audio/wav without a byte rate before its data")
			}
			// A recorder that was cut off, or that wrote a stream, has left 0 or the greatest number in the lengths.
			riff := int64(binary.LittleEndian.Uint32(head[4:]))
			if length == 0 && riff != f.Size-header {
				length = f.Size - offset
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
	default:
		return is, nil
	}
	if depth < 1 || depth > maxDepth {
		return is, Unsupported("audio/wav of %d bits a sample", depth)
	}
	is.byteRate, is.claimed = rate*channels*((depth+7)/8), false
	return is, nil
}

// sound returns the description of a file whose samples are in a span.
func (w wavFormat) sound(data span) Sound {
	s := Sound{MIMEType: "audio/wav", Ext: "wav", Duration: playing(data.to-data.from, w.byteRate), claimed: w.claimed,
		spans: []span{w.span, data}, codec: wavNames[w.code]}
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

package probe

import (
	"encoding/binary"
	"time"

	"github.com/content-automation/api/pkg/media"
)

// wav reads a RIFF/WAVE file: its length follows from the byte rate of the format
// chunk and the size of the data chunk.
func (f file) wav() (Info, error) {
	var byteRate uint32
	// The header takes 12 bytes, then chunk follows chunk: a name, a length, and
	// that many bytes, padded to an even number.
	for offset := int64(12); ; {
		var header [8]byte
		if err := f.at(offset, header[:]); err != nil {
			return Info{}, err
		}
		name, length := string(header[:4]), int64(binary.LittleEndian.Uint32(header[4:]))
		offset += int64(len(header))
		switch name {
		case "fmt ":
			var format [16]byte
			if err := f.at(offset, format[:]); err != nil {
				return Info{}, err
			}
			byteRate = binary.LittleEndian.Uint32(format[8:])
		case "data":
			if byteRate == 0 {
				return Info{}, f.unsupported("audio/wav without a byte rate before its data")
			}
			// A file written as a stream claims more than it holds.
			length = min(length, f.size-offset)
			return Info{
				Type: media.Audio, MIMEType: "audio/wav", Ext: "wav",
				Duration: time.Duration(float64(length) / float64(byteRate) * float64(time.Second)),
			}, nil
		}
		offset += length + length%2
	}
}

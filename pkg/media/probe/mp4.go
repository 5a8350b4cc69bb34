package probe

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/Eyevinn/mp4ff/mp4"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/audio"
)

const (
	maxLeaf  = 1 << 16 // bytes of a box that is read whole; those read here take about a hundred
	maxBoxes = 1 << 12 // boxes looked at, so that a file of tiny boxes ends
)

// maxLength bounds the length that a file may claim.
const maxLength = 24 * time.Hour

// movie is the content of the boxes of an MP4 file.
type movie struct {
	timescale     uint32 // units in a second
	units         uint64 // length
	width, height int    // of the largest track
	video         bool
	boxes         int
}

// duration returns the length, or 0 if the file has none or an implausible one.
func (m movie) duration() time.Duration {
	seconds := float64(m.units) / float64(max(m.timescale, 1))
	if seconds > maxLength.Seconds() {
		return 0
	}
	return time.Duration(seconds * float64(time.Second))
}

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
	if err := refuse(context.Background(), f.R, f.Size); err != nil {
		return Info{}, err
	}
	var m movie
	if err := f.walk(&m, 0, f.Size, ""); err != nil {
		return Info{}, err
	}
	duration := m.duration()
	if !m.video || m.width < 1 || m.height < 1 || duration <= 0 {
		return Info{}, audio.Unsupported("video/mp4 (brand %q) of %d x %d pixels, %v, with a video track: %v", brand,
			m.width, m.height, duration, m.video)
	}
	return Info{Type: media.Video, MIMEType: "video/mp4", Ext: "mp4", Width: m.width, Height: m.height,
		Duration: duration}, nil
}

// walk reads the boxes between two offsets and descends into those with relevant boxes. It decodes small boxes only,
// never the tables of samples.
func (f file) walk(m *movie, from, to int64, path string) error {
	for at := from; at+8 <= to; {
		if m.boxes++; m.boxes > maxBoxes {
			return audio.Unsupported("video/mp4 of more than %d boxes", maxBoxes)
		}
		header, err := f.boxHeader(at, to)
		if err != nil {
			return err
		}
		end := at + int64(header.Size)
		body := at + int64(header.Hdrlen)
		inner := path + "/" + header.Name
		switch inner {
		case "/moov", "/moov/trak", "/moov/trak/mdia", "/moov/mvex":
			if err := f.walk(m, body, end, inner); err != nil {
				return err
			}
		case "/moov/mvhd":
			box, err := leaf(f, header, at, mp4.DecodeMvhd)
			if err != nil {
				return err
			}
			b := box.(*mp4.MvhdBox)
			m.timescale, m.units = b.Timescale, max(m.units, b.Duration)
		case "/moov/mvex/mehd":
			// A fragmented file has its length here, and 0 in mvhd.
			box, err := leaf(f, header, at, mp4.DecodeMehd)
			if err != nil {
				return err
			}
			m.units = max(m.units, uint64(max(box.(*mp4.MehdBox).FragmentDuration, 0)))
		case "/moov/trak/tkhd":
			box, err := leaf(f, header, at, mp4.DecodeTkhd)
			if err != nil {
				return err
			}
			b := box.(*mp4.TkhdBox)
			if width, height := int(b.Width>>16), int(b.Height>>16); width*height > m.width*m.height {
				m.width, m.height = width, height
			}
		case "/moov/trak/mdia/hdlr":
			box, err := leaf(f, header, at, mp4.DecodeHdlr)
			if err != nil {
				return err
			}
			m.video = m.video || box.(*mp4.HdlrBox).HandlerType == "vide"
		}
		at = end
	}
	return nil
}

// boxHeader reads the header of the box at the offset and checks the end of the box. A length of 0 means "to the end of
// the file".
func (f file) boxHeader(at, to int64) (mp4.BoxHeader, error) {
	var length [4]byte
	if err := f.At(at, length[:]); err != nil {
		return mp4.BoxHeader{}, err
	}
	if length == [4]byte{} {
		name := make([]byte, 4)
		if err := f.At(at+4, name); err != nil {
			return mp4.BoxHeader{}, err
		}
		return mp4.BoxHeader{Name: string(name), Size: uint64(to - at), Hdrlen: 8}, nil
	}
	src := &audio.Watched{R: io.NewSectionReader(f.R, at, to-at)}
	header, err := mp4.DecodeHeader(src)
	if src.Err != nil {
		return header, fmt.Errorf("probe: read: %w", src.Err)
	}
	if err != nil {
		return header, audio.Unsupported("video/mp4: box at %d: %v", at, err)
	}
	if header.Size > uint64(to-at) {
		return header, audio.Unsupported("video/mp4: box %q at %d claims %d bytes of %d", header.Name, at,
			header.Size, to-at)
	}
	return header, nil
}

func leaf(f file, header mp4.BoxHeader, at int64, decode mp4.BoxDecoder) (mp4.Box, error) {
	if header.Size > maxLeaf {
		return nil, audio.Unsupported("video/mp4: box %q of %d bytes", header.Name, header.Size)
	}
	src := &audio.Watched{R: io.NewSectionReader(f.R, at+int64(header.Hdrlen), int64(header.Size)-int64(header.Hdrlen))}
	box, err := decode(header, uint64(at), src)
	if src.Err != nil {
		return nil, fmt.Errorf("probe: read: %w", src.Err)
	}
	if err != nil {
		return nil, audio.Unsupported("video/mp4: box %q: %v", header.Name, err)
	}
	return box, nil
}

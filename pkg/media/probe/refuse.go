package probe

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/content-automation/api/pkg/media/audio"
)

// encryption are the boxes and entries of Common Encryption (ISO/IEC 23001-7). ffmpeg before 8.1 writes outside of its
// memory when it reads senc, saiz or saio of a track whose entry has them (CVE-2026-40962, libavformat/mov.c), and no
// file that a caller may publish is encrypted. So a file with one of them is refused before ffmpeg sees it.
var encryption = []string{"senc", "saiz", "saio", "pssh", "sinf", "schm", "schi", "tenc", "encv", "enca", "enct",
	"encs",
	"encm", "adrm", "drms", "drmi"}

// hidden are boxes in which ffmpeg finds a movie where other readers see nothing: a compressed one, and one in a box
// that says to be something else.
var hidden = []string{"cmov", "hoov"}

// piff is the kind of the extension that has what senc has, of Microsoft's format before the standard.
var piff = []byte("\xa2\x39\x4f\x52\x5a\x9b\x4f\x14\xa2\x44\x6c\x42\x7c\x64\x8d\xf4")

// codecs are the entries of tracks of pictures and sound that are decoded. ffmpeg knows some hundred others, whose
// decoders nobody needs here and which have had faults such as CVE-2026-8461 (MagicYUV, before 7.1.5).
var codecs = []string{"avc1", "avc2", "avc3", "avc4", "hvc1", "hev1", "dvh1", "dvhe", "dva1", "dvav", "vp08", "vp09",
	"av01", "mp4v", "mp4a", "ac-3", "ec-3", "Opus", "fLaC", "alac", ".mp3", "samr", "sawb", "lpcm", "ipcm", "fpcm",
	"sowt",
	"twos", "in24", "in32", "fl32"}

// containers are boxes in which ffmpeg looks for boxes, and that stay in a file. Notes, such as udta, become free
// space.
var containers = []string{"moov", "trak", "mdia", "minf", "stbl", "mvex", "moof", "traf"}

// mostEntries bounds the bytes of the entries of a track, which are read whole.
const mostEntries = 1 << 18

// refuse returns an error that wraps ErrUnsupported if an MP4 has boxes that ffmpeg must not see.
func refuse(ctx context.Context, r io.ReaderAt, size int64) error {
	s := &stripper{File: audio.File{R: r, Size: size}, ctx: ctx, kinds: handlers}
	return s.refuse(0, size, true)
}

// refuse looks at the boxes between two offsets. Those of a track that is not kept become free space.
func (s *stripper) refuse(from, to int64, kept bool) error {
	return s.each(from, to, func(b box) error {
		switch {
		case slices.Contains(encryption, b.name):
			return encrypted()
		case slices.Contains(hidden, b.name):
			return audio.Unsupported("video/mp4 with a hidden movie: box %q at %d", b.name, b.at)
		case b.name == "uuid" || b.name == "free" || b.name == "skip":
			return s.refuseExtension(b)
		case b.name == "stsd":
			return s.refuseEntries(b, kept)
		case b.name == "trak":
			kind, err := s.find(b, "mdia", "hdlr")
			if err != nil {
				return err
			}
			handler := make([]byte, 4)
			if kind.end-kind.body >= 12 {
				if err := s.At(kind.body+8, handler); err != nil {
					return err
				}
			}
			return s.refuse(b.body, b.end, slices.Contains(s.kinds, string(handler)))
		case slices.Contains(containers, b.name):
			return s.refuse(b.body, b.end, kept)
		}
		return nil
	})
}

// encrypted returns the error of a file that only the programs of a shop can open.
func encrypted() error {
	return audio.Refuse("The file is encrypted, as those of shops are. Send one that every player can open.")
}

// codecNames are the names of codecs that cameras and editing programs write and platforms do not take.
var codecNames = map[string]string{"apch": "Apple ProRes", "apcn": "Apple ProRes", "apcs": "Apple ProRes",
	"apco": "Apple ProRes", "ap4h": "Apple ProRes", "ap4x": "Apple ProRes", "jpeg": "Motion JPEG", "mjpa": "Motion JPEG",
	"mjpb": "Motion JPEG", "AVdn": "Avid DNxHD", "AVdh": "Avid DNxHR", "s263": "H.263", "h263": "H.263",
	"SVQ1": "Sorenson Video", "SVQ3": "Sorenson Video", "rle ": "QuickTime Animation", "png ": "PNG",
	"CFHD": "CineForm", "vvc1": "H.266", "vvi1": "H.266", "dvc ": "DV", "dvcp": "DV", "dvpp": "DV", "mp4v": "MPEG-4"}

// foreign returns the error of a file in a codec that is not decoded.
func foreign(name string) error {
	about := codecNames[name]
	if about == "" {
		about = fmt.Sprintf("the codec %q", name)
	}
	return audio.Refuse("The video is in %s. Export it as MP4 with H.264 and AAC.", about)
}

// refuseExtension looks at a box of another kind, or one without a meaning, in which ffmpeg may find a movie.
func (s *stripper) refuseExtension(b box) error {
	head := make([]byte, min(16, b.end-b.body))
	if err := s.At(b.body, head); err != nil {
		return err
	}
	if b.name == "uuid" && bytes.Equal(head, piff) {
		return encrypted()
	}
	if b.name != "uuid" && len(head) >= 8 && (string(head[4:8]) == "mvhd" || string(head[4:8]) == "cmov") {
		return audio.Unsupported("video/mp4 with a hidden movie: box %q at %d", b.name, b.at)
	}
	return nil
}

// refuseEntries looks at the entries of a track. Boxes of encryption are looked for anywhere in them: where they begin
// depends on the kind and version of the entry.
func (s *stripper) refuseEntries(b box, kept bool) error {
	if b.end-b.body > mostEntries {
		return audio.Unsupported("video/mp4: box %q of %d bytes", b.name, b.end-b.body)
	}
	all := make([]byte, b.end-b.body)
	if err := s.At(b.body, all); err != nil || len(all) < 8 {
		return err
	}
	for _, name := range encryption {
		if bytes.Contains(all, []byte(name)) {
			return encrypted()
		}
	}
	for at := 8; kept && at+8 <= len(all); {
		size, name := int(binary.BigEndian.Uint32(all[at:])), string(all[at+4:at+8])
		if !slices.Contains(codecs, name) {
			return foreign(name)
		}
		if size < 8 || size > len(all)-at {
			break
		}
		at += size
	}
	return nil
}

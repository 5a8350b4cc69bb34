package probe_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/content-automation/api/pkg/media/probe"
)

// What CVE-2026-40962 needs, the boxes of encryption, does not reach ffmpeg: neither by an upload nor by a stored file.
// Nor does a movie that only ffmpeg sees, or a codec that nobody needs.
func TestB17EncryptedFilesAreRefused(t *testing.T) {
	visual := func(name string, more ...[]byte) []byte {
		return boxed("stsd", 0, 1, boxed(name, append([]any{make([]byte, 78)}, func() (all []any) {
			for _, m := range more {
				all = append(all, m)
			}
			return all
		}()...)...))
	}
	track := func(handler string, stbl []byte) []byte {
		return boxed("trak", boxed("mdia", boxed("hdlr", 0, 0, handler, 0, 0, 0), boxed("minf", boxed("stbl", stbl))))
	}
	piff := extension(t, "a2394f52-5a9b-4f14-a244-6c427c648df4", 0, 1, 2)
	fine := film{}
	for about, content := range map[string][]byte{
		"plain": fine.bytes(), "a codec": film{movie: track("vide", visual("avc1", boxed("avcC", 1)))}.bytes(),
		"notes in a codec of notes": film{movie: track("meta", visual("mebx"))}.bytes(),
		"fragments":                 film{top: boxed("moof", boxed("mfhd", 0, 1), boxed("traf", boxed("tfhd", 0, 1)))}.bytes(),
	} {
		if _, err := probe.Bytes(content); err != nil {
			t.Errorf("%s: %v", about, err)
		}
		if _, err := probe.Decode(t.Context(), bytes.NewReader(content), int64(len(content))); err != nil {
			t.Errorf("%s: %v", about, err)
		}
	}
	hidden := boxed("mvhd", 0)
	for about, content := range map[string][]byte{
		"senc of a fragment":          film{top: boxed("moof", boxed("traf", boxed("senc", 2, 1)))}.bytes(),
		"saiz of a fragment":          film{top: boxed("moof", boxed("traf", boxed("saiz", 0, 1)))}.bytes(),
		"saio of a fragment":          film{top: boxed("moof", boxed("traf", boxed("saio", 0, 1)))}.bytes(),
		"senc of a track":             film{movie: track("vide", boxed("senc", 2, 1))}.bytes(),
		"saiz of a track of notes":    film{movie: track("meta", boxed("saiz", 2, 1))}.bytes(),
		"senc beside the boxes":       film{track: boxed("senc", 2, 1)}.bytes(),
		"the extension that has senc": film{top: boxed("moof", boxed("traf", piff))}.bytes(),
		"a system of rights":          film{movie: boxed("pssh", 0)}.bytes(),
		"an encrypted entry":          film{movie: track("vide", visual("encv"))}.bytes(),
		"a scheme in an entry":        film{movie: track("vide", visual("avc1", boxed("sinf", boxed("schi", boxed("tenc", 0)))))}.bytes(),
		"a scheme in another version": film{movie: track("soun", visual("mp4a", make([]byte, 13), boxed("tenc", 0)))}.bytes(),
		"an encrypted entry of notes": film{movie: track("meta", visual("encm"))}.bytes(),
		"a codec that nobody needs":   film{movie: track("vide", visual("M8RG"))}.bytes(),
		"a second entry":              film{movie: track("vide", boxed("stsd", 0, 2, boxed("avc1", 0), boxed("M8RG", 0)))}.bytes(),
		"a compressed movie":          film{movie: boxed("cmov", 0)}.bytes(),
		"a movie in hoov":             film{top: boxed("hoov", hidden)}.bytes(),
		"a movie in free space":       film{top: boxed("free", hidden)}.bytes(),
	} {
		if _, err := probe.Bytes(content); !errors.Is(err, probe.ErrUnsupported) {
			t.Errorf("%s is read: %v", about, err)
		}
		if _, err := probe.Decode(context.Background(), bytes.NewReader(content), int64(len(content))); err == nil {
			t.Errorf("%s is taken", about)
		}
	}
}

// counted counts the bytes that are read of a file.
type counted struct {
	*bytes.Reader
	n int
}

func (c *counted) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.Reader.ReadAt(p, at)
	c.n += n
	return n, err
}

// Little is read of a file that is refused for its beginning. A file that begins with zeros may be an MP3.
func TestLittleIsReadOfAFileThatIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		begin string
		most  int
	}{"a text": {"some text", 2 << 10}, "a few zeros": {"\x00\x00\x00\x00a", 2 << 10},
		"many zeros": {string(make([]byte, 100)) + "a", 68 << 10}} {
		r := &counted{Reader: bytes.NewReader(append([]byte(c.begin), make([]byte, 1<<20)...))}
		_, err := probe.Decode(t.Context(), r, r.Size())
		if !errors.As(err, new(*probe.Refused)) || r.n > c.most {
			t.Errorf("%s: %d bytes are read, above %d: %v", name, r.n, c.most, err)
		}
	}
}

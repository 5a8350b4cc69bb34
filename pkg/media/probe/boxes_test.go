package probe_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/media/probe"
)

// boxed is a box of an MP4.
func boxed(name string, parts ...any) []byte {
	b := append(make([]byte, 4), name...)
	for _, part := range parts {
		switch p := part.(type) {
		case []byte:
			b = append(b, p...)
		case string:
			b = append(b, p...)
		case int:
			b = binary.BigEndian.AppendUint32(b, uint32(p))
		}
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)))
	return b
}

// extension is a box of a kind of its own.
func extension(t *testing.T, kind string, parts ...any) []byte {
	t.Helper()
	id, err := hex.DecodeString(strings.ReplaceAll(kind, "-", ""))
	if err != nil {
		t.Fatal(err)
	}
	return boxed("uuid", append([]any{id}, parts...)...)
}

const (
	c2pa   = "d8fec3d6-1b0e-483c-9297-5828877ec481"
	xmp    = "be7acfcb-97a9-42e8-9c71-999491e3afac"
	secret = "+48.1371+011.5754/"
	term   = "http://cv.iptc.org/newscodes/digitalsourcetype/"
)

// film is an MP4 with a track of pictures.
type film struct {
	// top, movie, track and data are further boxes, and the samples of further tracks.
	top, movie, track []byte
	data              []byte
	// name and made are those of the track.
	name string
	made int
}

// frames are the samples of the track of pictures.
const frames = "the first frame, the second frame"

func (f film) bytes() []byte {
	header := boxed("ftyp", "isom", 0)
	at := len(header) + 8
	matrix := []any{0, 0x10000, 0, -0x10000, 0, 0, 0, 0, 0x40000000} // it is turned
	return slices.Concat(header, boxed("mdat", frames, f.data), boxed("moov",
		boxed("mvhd", slices.Concat([]any{0, f.made, f.made, 1000, 2000, 0x10000, 0x1000000, 0, 0}, matrix,
			[]any{0, 0, 0, 0, 0, 0, 2})...),
		boxed("trak", boxed("tkhd", slices.Concat([]any{3, f.made, f.made, 1, 0, 2000, 0, 0, 0, 0}, matrix,
			[]any{64 << 16, 48 << 16})...),
			boxed("edts", boxed("elst", 0, 1, 2000, 0, 0x10000)), boxed("tref", boxed("cdsc", 2)),
			boxed("mdia", boxed("mdhd", 0, f.made, f.made, 1000, 2000, 0x55c40000),
				boxed("hdlr", 0, 0, "vide", 0, 0, 0, f.name, "\x00"),
				boxed("minf", boxed("vmhd", 1, 0, 0), boxed("dinf", boxed("dref", 0, 1, boxed("url ", 1))),
					boxed("stbl", boxed("stsz", 0, len(frames), 1), boxed("stsc", 0, 1, 1, 1, 1),
						boxed("stco", 0, 1, at)))), f.track), f.movie), f.top)
}

// other is a track of another kind, whose tables are given.
func other(handler string, tables ...any) []byte {
	return boxed("trak", boxed("tkhd", 3, 0, 0, 2, 0, 2000, make([]byte, 60)),
		boxed("mdia", boxed("hdlr", 0, 0, handler, 0, 0, 0, "\x00"), boxed("minf", boxed("stbl", tables...))))
}

// stripped returns a file without what is removed from it. It has the same size, and nothing is removed of it twice.
func stripped(t *testing.T, content []byte) []byte {
	t.Helper()
	apply := func(content []byte) (probe.Decoded, []byte) {
		f, err := read(content)
		if err != nil || f.MIMEType != "video/mp4" || f.Content != nil {
			t.Fatalf("%+v, %v", f.Info, err)
		}
		out := buffer(slices.Clone(content))
		if err := f.Apply(out); err != nil {
			t.Fatal(err)
		}
		return f, out
	}
	was, once := apply(content)
	is, twice := apply(once)
	if is.Info != was.Info || len(is.Edits) > 0 || !bytes.Equal(once, twice) {
		t.Errorf("it was %+v, and is %+v, of which %d edits are left", was.Info, is.Info, len(is.Edits))
	}
	return once
}

// buffer is a file in memory that does not grow.
type buffer []byte

func (b buffer) WriteAt(p []byte, at int64) (int, error) {
	if at < 0 || at+int64(len(p)) > int64(len(b)) {
		return 0, errors.New("it is outside of the file")
	}
	return copy(b[at:], p), nil
}

// has checks that a file has texts, and lacks secret.
func has(t *testing.T, name string, content []byte, texts ...string) {
	t.Helper()
	for _, text := range append(texts, frames) {
		if !bytes.Contains(content, []byte(text)) {
			t.Errorf("%s: %q is lost", name, text)
		}
	}
	if bytes.Contains(content, []byte(secret)) {
		t.Errorf("%s: the secret is left", name)
	}
}

// Places and notes are removed, wherever cameras and programs write them.
func TestAVideoLosesItsPlaceAndNotes(t *testing.T) {
	keys := boxed("meta", 0, boxed("hdlr", 0, 0, "mdta", 0, 0, 0), boxed("keys", 0, 1,
		boxed("mdta", "com.apple.quicktime.location.ISO6709")), boxed("ilst", boxed("\x00\x00\x00\x01",
		boxed("data", 1, 0, secret))))
	const long = "\x00\x00\x00\x00\x00\x00\x00" // a size but for its last byte
	for name, f := range map[string]film{
		"a place":                       {movie: boxed("udta", boxed("\xa9xyz", secret))},
		"a place of 3GPP":               {movie: boxed("udta", boxed("loci", 0, secret))},
		"a place of Apple":              {movie: keys},
		"a note of a track":             {track: boxed("udta", boxed("name", secret))},
		"metadata of a track":           {track: boxed("meta", 0, secret)},
		"the name of a track":           {name: secret},
		"metadata of the file":          {top: keys},
		"a box that nobody knows":       {top: boxed("sefd", secret)},
		"one in the movie":              {movie: boxed("gps ", secret)},
		"XMP":                           {top: extension(t, xmp, "<x:xmpmeta>", secret)},
		"an extension":                  {track: extension(t, "ffcc8263-f855-4a93-8814-587a02521fdd", secret)},
		"an extension without a kind":   {top: boxed("uuid", secret[:9])},
		"free space":                    {top: boxed("free", secret)},
		"a box of a long header":        {top: append([]byte("\x00\x00\x00\x01udta"+long+"\x22"), secret...)},
		"one up to the end of the file": {top: append([]byte("\x00\x00\x00\x00udta"), secret...)},
	} {
		content := f.bytes()
		got := stripped(t, content)
		has(t, name, got)
		// What is needed to play it is as it was: the matrices, the edit list, the tables.
		plain := film{name: strings.Repeat("\x00", len(f.name))}.bytes()
		moov := bytes.Index(plain, []byte("mvhd"))
		if f.track == nil && !bytes.Equal(got[moov:len(plain)], plain[moov:]) {
			t.Errorf("%s: the movie has changed", name)
		}
	}
	was := film{made: 0x7c25b080}.bytes()
	if got, want := stripped(t, was), (film{}).bytes(); !bytes.Equal(got, want) {
		t.Error("the times are left, or more than they was removed")
	}
	if plain := (film{}).bytes(); !bytes.Equal(stripped(t, plain), plain) {
		t.Error("something is removed of nothing")
	}
}

// Marks of origin stay: the manifest of C2PA as a whole, and of XMP the kind of the source.
func TestAVideoKeepsTheMarksOfItsOrigin(t *testing.T) {
	const member = "Iptc4xmpExt:DigitalSourceType"
	manifest := extension(t, c2pa, "jumb", "a manifest")
	has(t, "C2PA", stripped(t, film{top: manifest}.bytes()), string(manifest))
	for name, c := range map[string]struct {
		text string
		mark bool
	}{
		"an attribute":                {`<rdf:Description ` + member + `="` + term + `trained" note="` + secret + `"`, true},
		"an element":                  {`<` + member + `>` + term + `trained</` + member + `>` + secret, true},
		"a resource":                  {`<` + member + ` rdf:resource='` + term + `trained'/>` + secret, true},
		"a note in place of the term": {`<` + member + `>` + term + secret + `<`, false},
		"another member":              {`<dc:source>` + term + `trained</dc:source>` + secret, false},
	} {
		for _, fill := range []int{0, 1, 200, 500} {
			for size := range 16 {
				text := c.text + strings.Repeat(secret, fill)
				box := extension(t, xmp, text[:len(text)-size])
				got := stripped(t, film{top: slices.Concat(box, boxed("free"))}.bytes())
				has(t, name, got)
				marked := bytes.Contains(got, []byte(member+`="`+term+`trained"`))
				if room := fill >= 200; marked && !c.mark || !marked && c.mark && room {
					t.Errorf("%s of %d bytes: marked: %t", name, len(text)-size, marked)
				}
			}
		}
	}
}

// The samples of other tracks are removed, whatever tables tell where they are.
func TestAVideoLosesTheWayOfItsCamera(t *testing.T) {
	// Two chunks of two samples and of one, with samples of the other track around them.
	gps := []string{secret, secret + "1", secret + "22"}
	data := gps[0] + gps[1] + "a third frame" + gps[2] + "a fourth frame"
	at := 16 + 8 + len(frames)
	second := at + len(gps[0]+gps[1]+"a third frame")
	sizes := boxed("stsz", 0, 0, 3, len(gps[0]), len(gps[1]), len(gps[2]))
	runs := boxed("stsc", 0, 2, 1, 2, 1, 2, 1, 1)
	for name, f := range map[string]film{
		"offsets of 32 bits": {movie: other("meta", sizes, runs, boxed("stco", 0, 2, at, second))},
		"offsets of 64 bits": {movie: other("camm", sizes, runs, boxed("co64", 0, 2, 0, at, 0, second))},
		"texts":              {movie: other("sbtl", sizes, runs, boxed("stco", 0, 2, at, second))},
		"no handler":         {movie: other("\x00\x00\x00\x00", sizes, runs, boxed("stco", 0, 2, at, second))},
	} {
		f.data = []byte(data)
		got := stripped(t, f.bytes())
		has(t, name, got, "a third frame", "a fourth frame")
		if bytes.Contains(got, []byte("cdsc")) {
			t.Errorf("%s: a track still refers to the other", name)
		}
	}
	uniform := film{data: []byte(secret + secret + "a third frame"), movie: other("meta",
		boxed("stsz", 0, len(secret), 2), boxed("stsc", 0, 1, 1, 2, 1), boxed("stco", 0, 1, at))}
	has(t, "samples of one size", stripped(t, uniform.bytes()), "a third frame")
	if got := stripped(t, film{}.bytes()); !bytes.Contains(got, []byte("cdsc")) {
		t.Error("a reference is removed though nothing else is")
	}
}

// Samples of fragments are removed as well.
func TestAFragmentedVideoLosesTheWayOfItsCamera(t *testing.T) {
	begin := film{movie: slices.Concat(other("meta"), boxed("mvex", boxed("trex", 0, 1, 1, 0, 0, 0),
		boxed("trex", 0, 2, 1, 0, len(secret), 0)))}.bytes()
	for name, c := range map[string]struct{ header, run func(moof, data int) []byte }{
		"a base, and the size of all": {
			func(_, data int) []byte { return boxed("tfhd", 0x1|0x2, 2, 0, data, 1) },
			func(_, _ int) []byte { return boxed("trun", 0, 2) },
		},
		"the size of the fragment": {
			func(_, _ int) []byte { return boxed("tfhd", 0x20000|0x8|0x10|0x20, 2, 1, len(secret), 0) },
			func(moof, data int) []byte { return boxed("trun", 0x1|0x4, 2, data-moof, 0) },
		},
		"the size of each": {
			func(_, _ int) []byte { return boxed("tfhd", 0, 2) },
			func(moof, data int) []byte {
				return boxed("trun", 0x1|0x100|0x200|0x800, 2, data-moof, 40, len(secret), 0, 40, len(secret), 0)
			},
		},
	} {
		fragment := func(data int) []byte {
			return boxed("moof", boxed("mfhd", 0, 1), boxed("traf", c.header(len(begin), data), c.run(len(begin), data)),
				boxed("traf", boxed("tfhd", 0x20000, 1), boxed("trun", 0x1|0x200, 1, data+2*len(secret)-len(begin), 13)))
		}
		data := len(begin) + len(fragment(0)) + 8
		got := stripped(t, slices.Concat(begin, fragment(data), boxed("mdat", secret, secret, "a third frame")))
		has(t, name, got, "a third frame", "tfhd")
		if bytes.Count(got, []byte("traf")) != 1 {
			t.Errorf("%s: the fragment is left", name)
		}
	}
}

// Hostile boxes end the reading, and no edit leaves the file.
func TestHostileBoxesEndTheReading(t *testing.T) {
	nested := []byte(secret)
	for range 20_000 {
		nested = boxed("udta", nested)
	}
	deep := []byte(secret)
	for range 20_000 {
		deep = boxed("trak", deep)
	}
	each := boxed("stsc", 0, 1, 1, 1, 1) // a sample in each chunk
	huge := "\xff\xff\xff\xff"
	for name, f := range map[string]film{
		"boxes in boxes":                 {movie: nested},
		"tracks in tracks":               {movie: deep},
		"tiny boxes":                     {track: bytes.Repeat(boxed("free"), 1<<20)},
		"a size of one without the size": {top: []byte("\x00\x00\x00\x01udta")},
		"a size that ends before":        {track: []byte("\x00\x00\x00\x07udta\x00")},
		"a long size that ends before":   {track: append([]byte("\x00\x00\x00\x01udta"), make([]byte, 12)...)},
		"a huge size":                    {track: []byte(huge + "udta")},
		"a huge long size":               {track: []byte("\x00\x00\x00\x01udta" + huge + huge)},
		"a size of zero in a track":      {track: []byte("\x00\x00\x00\x00udta")},
		"a track without boxes":          {movie: boxed("trak")},
		"a track of a short header":      {movie: boxed("trak", boxed("tkhd"))},
		"tables of huge counts": {movie: other("meta", boxed("stsz", 0, -1, -1),
			boxed("stsc", 0, -1, 1, -1, -1), boxed("stco", 0, -1, 24))},
		"chunks outside of the file": {movie: other("meta", boxed("stsz", 0, 9, 9), each, boxed("co64", 0, 1, -1, -1))},
		"runs without a first chunk": {movie: other("meta", boxed("stsz", 0, 1, 9),
			boxed("stsc", 0, 2, 0, 1, 1, 0, 1, 1), boxed("stco", 0, 2, 24, 25))},
		"the same samples a million times": {movie: other("meta", boxed("stsz", 0, 8, 9), each,
			boxed("stco", 0, 1<<20, bytes.Repeat([]byte{0, 0, 0, 24}, 1<<20)))},
		"a million samples apart": {data: make([]byte, 4<<20), movie: other("meta", boxed("stsz", 0, 1, 9), each,
			boxed("stco", 0, 1<<20, apart(1<<20)))},
		"samples among the boxes": {movie: other("meta", boxed("stsz", 0, 60, 1), each, boxed("stco", 0, 1, 0))},
		"a fragment of nothing":   {top: boxed("moof", boxed("traf"), boxed("traf", boxed("tfhd")))},
		"a fragment of a removed track": {movie: other("meta"), top: boxed("moof", boxed("traf", boxed("tfhd", 1, 2, -1, -1),
			boxed("trun", 0x201, -1, -1, -1)))},
	} {
		within(t, name, f.bytes())
	}
	whole := film{movie: slices.Concat(other("meta", boxed("stsz", 0, 0, 1, 9), boxed("stsc", 0, 1, 1, 1, 1),
		boxed("stco", 0, 1, 30)), boxed("udta", boxed("\xa9xyz", secret))), top: extension(t, xmp, secret)}.bytes()
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		content := slices.Clone(whole)
		for range 1 + random.IntN(4) {
			content[random.IntN(len(content))] = byte(random.IntN(256) & random.IntN(256))
		}
		within(t, "a changed file", content[:len(content)-random.IntN(2)*random.IntN(len(content)/2)])
	}
}

// apart are offsets that do not follow each other.
func apart(n int) (all []byte) {
	for i := range n {
		all = binary.BigEndian.AppendUint32(all, uint32(24+2*i))
	}
	return all
}

// within reads a file, which may be refused, and makes its edits.
func within(t *testing.T, name string, content []byte) {
	t.Helper()
	f, err := read(content)
	if refused := new(probe.Refused); err != nil && (!errors.As(err, &refused) || refused.TooLarge) {
		t.Fatalf("%s: %v", name, err)
	}
	if err := f.Apply(buffer(slices.Clone(content))); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

// A reader that fails is not the fault of the file, and the end of the time is not an answer.
func TestAVideoThatCannotBeReadIsNotBlamed(t *testing.T) {
	content := film{movie: boxed("udta", secret)}.bytes()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := probe.Decode(ctx, bytes.NewReader(content), int64(len(content))); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if _, err := probe.Decode(t.Context(), bytes.NewReader(content[:len(content)/2]),
		int64(len(content))); err == nil ||
		errors.As(err, new(*probe.Refused)) {
		t.Errorf("the error is %v", err)
	}
}

package sandbox

import (
	"encoding/binary"
	"fmt"
	"time"
)

// box returns a box of an MP4 file (ISO/IEC 14496-12) with the parts as its content.
func box(name string, parts ...[]byte) []byte {
	size := 8
	for _, p := range parts {
		size += len(p)
	}
	out := make([]byte, 8, size)
	binary.BigEndian.PutUint32(out, uint32(size))
	copy(out[4:], name)
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// words returns numbers of 32 bits, and halves of 16.
func words(all ...uint32) (out []byte) {
	for _, v := range all {
		out = binary.BigEndian.AppendUint32(out, v)
	}
	return out
}

func halves(all ...uint16) (out []byte) {
	for _, v := range all {
		out = binary.BigEndian.AppendUint16(out, v)
	}
	return out
}

// unity is the matrix that leaves a picture unchanged.
var unity = words(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)

// track is a track of a movie whose samples all have the same duration.
type track struct {
	handler string // vide or soun
	entry   []byte // of stsd
	// rate is the number of units in a second, and each the duration of a sample.
	rate, each uint32
	samples    [][]byte
	keys       []uint32 // numbers of the key frames, from 1; empty if all samples are
	perChunk   int      // samples
	width      int
	height     int
}

func (t track) units() uint32 { return uint32(len(t.samples)) * t.each }

// chunks returns the sizes of the chunks.
func (t track) chunks() (sizes []int) {
	for i, s := range t.samples {
		if i%t.perChunk == 0 {
			sizes = append(sizes, 0)
		}
		sizes[len(sizes)-1] += len(s)
	}
	return sizes
}

// table returns the table of the samples, whose chunks are at the offsets.
func (t track) table(offsets []uint32) []byte {
	sizes := make([]uint32, len(t.samples))
	for i, s := range t.samples {
		sizes[i] = uint32(len(s))
	}
	chunks := words(0, 1, 1, uint32(t.perChunk), 1)
	if rest := len(t.samples) % t.perChunk; rest > 0 {
		if last := uint32(len(t.samples)/t.perChunk) + 1; last == 1 {
			chunks = words(0, 1, 1, uint32(rest), 1)
		} else {
			chunks = words(0, 2, 1, uint32(t.perChunk), 1, last, uint32(rest), 1)
		}
	}
	var keys []byte
	if len(t.keys) > 0 {
		keys = box("stss", words(0, uint32(len(t.keys))), words(t.keys...))
	}
	return box("stbl",
		box("stsd", words(0, 1), t.entry),
		box("stts", words(0, 1, uint32(len(t.samples)), t.each)),
		keys,
		box("stsc", chunks),
		box("stsz", words(0, 0, uint32(len(sizes))), words(sizes...)),
		box("stco", words(0, uint32(len(offsets))), words(offsets...)))
}

// movieRate is the number of units in a second of the movie.
const movieRate = 1000

func (t track) length() uint32 {
	return uint32((uint64(t.units())*movieRate + uint64(t.rate)/2) / uint64(t.rate))
}

// trak returns the box of the n-th track.
func (t track) trak(n uint32, offsets []uint32) []byte {
	header, volume := box("vmhd", words(1, 0, 0)), uint16(0)
	if t.handler == "soun" {
		header, volume = box("smhd", words(0, 0)), 0x100
	}
	return box("trak",
		box("tkhd", words(3, 0, 0, n, 0, t.length(), 0, 0), halves(0, 0, volume, 0), unity,
			words(uint32(t.width)<<16, uint32(t.height)<<16)),
		box("mdia",
			box("mdhd", words(0, 0, 0, t.rate, t.units(), 0x55c40000)),
			box("hdlr", words(0, 0), []byte(t.handler), words(0, 0, 0), []byte{0}),
			box("minf", header, box("dinf", box("dref", words(0, 1), box("url ", words(1)))), t.table(offsets))))
}

// movie returns the file of the tracks. The index comes first, and the tracks alternate every second.
func movie(tracks ...track) []byte {
	offsets := make([][]uint32, len(tracks))
	for i, t := range tracks {
		offsets[i] = make([]uint32, len(t.chunks()))
	}
	moov := func() []byte {
		var length uint32
		var traks []byte
		for i, t := range tracks {
			length = max(length, t.length())
			traks = append(traks, t.trak(uint32(i+1), offsets[i])...)
		}
		return box("moov", box("mvhd", words(0, 0, 0, movieRate, length, 0x10000), halves(0x100, 0), words(0, 0), unity,
			words(0, 0, 0, 0, 0, 0, uint32(len(tracks)+1))), traks)
	}
	ftyp := box("ftyp", []byte("isom"), words(0x200), []byte("isomiso2avc1mp41"))
	at := len(ftyp) + len(moov()) + 8 // the size of moov does not depend on the offsets
	var data []byte
	for n, more := 0, true; more; n++ {
		more = false
		for i, t := range tracks {
			if n >= len(offsets[i]) {
				continue
			}
			more = true
			offsets[i][n] = uint32(at + len(data))
			for _, s := range t.samples[n*t.perChunk : min((n+1)*t.perChunk, len(t.samples))] {
				data = append(data, s...)
			}
		}
	}
	return append(append(ftyp, moov()...), box("mdat", data)...)
}

// videoTrack returns the track of a clip.
func videoTrack(s Scene, length time.Duration) track {
	frames := max(int(length*frameRate+time.Second/2)/int(time.Second), 1)
	c := newClip264(s, frames)
	sps, pps := c.sps(), pps()
	avcC := append([]byte{1, profile, constraints, byte(c.level()), 0xff, 0xe1}, halves(uint16(len(sps)))...)
	avcC = append(append(append(append(avcC, sps...), 1), halves(uint16(len(pps)))...), pps...)
	entry := box("avc1", words(0), halves(0, 1), words(0, 0, 0, 0), halves(uint16(s.Width), uint16(s.Height)),
		words(0x480000, 0x480000, 0), halves(1),
		make([]byte, 32), halves(24, 0xffff), box("avcC", avcC))
	t := track{handler: "vide", entry: entry, rate: 90000, each: 90000 / frameRate, perChunk: frameRate, width: s.Width,
		height: s.Height}
	sized := func(nal []byte) []byte { return append(words(uint32(len(nal))), nal...) }
	t.keys, t.samples = []uint32{1}, [][]byte{sized(c.key())}
	for n := 1; n < frames; n++ {
		t.samples = append(t.samples, sized(c.next(n)))
	}
	return t
}

// The sound of clips: AAC, mono, of 44,100 samples a second.
const (
	aacRate    = 44100
	aacSamples = 1024
)

// silence is a frame of AAC-LC in mono without sound (ISO/IEC 14496-3).
var silence = []byte{0x00, 0xc8, 0x00, 0x80, 0x23, 0x80}

func silentTrack(length time.Duration) track {
	config := []byte{0x12, 0x08} // AAC-LC, 44,100, one channel
	descriptor := func(tag byte, parts ...[]byte) []byte {
		b := box("", parts...)[8:]
		return append([]byte{tag, byte(len(b))}, b...)
	}
	esds := box("esds", words(0), descriptor(3, halves(2), []byte{0},
		descriptor(4, []byte{0x40, 0x15, 0, 0, 0}, words(2100, 2100), descriptor(5, config)), descriptor(6, []byte{2})))
	entry := box("mp4a", words(0), halves(0, 1), words(0, 0), halves(1, 16, 0, 0), words(aacRate<<16), esds)
	t := track{handler: "soun", entry: entry, rate: aacRate, each: aacSamples, perChunk: aacRate / aacSamples}
	for range max(int(length.Seconds()*aacRate)/aacSamples, 1) {
		t.samples = append(t.samples, silence)
	}
	return t
}

// MP4 makes a clip of the scene: H.264, and silence in AAC if sound is set. The result must not be changed: it may be
// shared.
func MP4(s Scene, length time.Duration, sound bool) ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if err := checkLength(length); err != nil {
		return nil, err
	}
	return recent.get(fmt.Sprintf("MP4 %+v %v %t", s, length, sound), func() ([]byte, error) {
		tracks := []track{videoTrack(s, length)}
		if sound {
			tracks = append(tracks, silentTrack(length))
		}
		return movie(tracks...), nil
	})
}

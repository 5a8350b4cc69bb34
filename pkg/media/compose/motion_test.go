package compose

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"
)

// gradient returns a picture whose brightness says where a pixel was.
func gradient(t *testing.T, width, height int) *Still {
	t.Helper()
	raw := bytes.Repeat([]byte{128}, width*height*3/2)
	for y := range height {
		for x := range width {
			raw[y*width+x] = byte(x * 255 / (width - 1))
		}
	}
	s, err := NewStill(raw, width, height)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAStillViewIsThePictureItself(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	raw := make([]byte, 66*34*3/2)
	for i := range raw {
		raw[i] = byte(r.Uint32())
	}
	s, err := NewStill(raw, 66, 34)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := s.Write(&out, 66, 34, Move{View{0, 0, 1}, View{0, 0, 1}}, 0, 2, 2); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Bytes(), append(bytes.Clone(raw), raw...)) {
		t.Error("the frames are not the picture")
	}
}

func TestEveryPixelIsBetweenItsNeighbours(t *testing.T) {
	// Drawing eight pixels at a time gives the result of real arithmetic.
	r := rand.New(rand.NewPCG(3, 4))
	a, b, out := make([]byte, 37), make([]byte, 37), make([]byte, 45)
	for range 200 {
		for i := range a {
			a[i], b[i] = byte(r.Uint32()), byte(r.Uint32())
		}
		part := r.Uint64N(256)
		blend(out, a, b, part)
		for i := range a {
			want := float64(a[i]) + (float64(b[i])-float64(a[i]))*float64(part)/256
			if math.Abs(float64(out[i])-want) > 0.51 {
				t.Fatalf("%d of %d and %d is %d, not %.2f", part, a[i], b[i], out[i], want)
			}
		}
	}
}

func TestMotionIsSmooth(t *testing.T) {
	const width, frames = 256, 100
	s := gradient(t, width, 16)
	var out bytes.Buffer
	if err := s.Write(&out, width, 16, Moves[1], 0, frames, frames); err != nil {
		t.Fatal(err)
	}
	size := width * 16 * 3 / 2
	first, last := out.Bytes()[:width], out.Bytes()[(frames-1)*size:][:width]
	if moved := int(last[100]) - int(first[100]); moved < 25 || moved > 35 {
		t.Errorf("over the whole, the picture moves by %d of 255", moved)
	}
	// Brightness in the middle of a frame grows evenly, never by a whole step and back.
	for n := 1; n < frames; n++ {
		step := int(out.Bytes()[n*size+100]) - int(out.Bytes()[(n-1)*size+100])
		if step < 0 || step > 1 {
			t.Errorf("frame %d moves by %d", n, step)
		}
	}
	// Parts of a motion are the motion.
	var part bytes.Buffer
	if err := s.Write(&part, width, 16, Moves[1], 40, 10, frames); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(part.Bytes(), out.Bytes()[40*size:50*size]) {
		t.Error("frames 40 to 50 alone are not those of the whole")
	}
}

func TestNoViewLeavesThePicture(t *testing.T) {
	s := gradient(t, 64, 64)
	for i, m := range Moves {
		var out bytes.Buffer
		if err := s.Write(&out, 32, 32, m, 0, 30, 30); err != nil {
			t.Fatal(err)
		}
		for _, v := range []View{m.From, m.To} {
			if v.X < 0 || v.Y < 0 || v.X+v.Size > 1.0001 || v.Y+v.Size > 1.0001 {
				t.Errorf("move %d sees %+v", i, v)
			}
		}
	}
	if _, err := NewStill(make([]byte, 10), 4, 4); err == nil {
		t.Error("10 bytes are a picture of 4 x 4 pixels")
	}
}

func BenchmarkFrame(b *testing.B) {
	s, err := NewStill(make([]byte, 1228*2182*3/2), 1228, 2182)
	if err != nil {
		b.Fatal(err)
	}
	frame := make([]byte, 1080*1920*3/2)
	for b.Loop() {
		s.frame(frame, 1080, 1920, View{0.03, 0.031, 0.93})
	}
}

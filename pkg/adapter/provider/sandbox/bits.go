package sandbox

import "math/bits"

// bitWriter writes bits, the highest first.
type bitWriter struct {
	out  []byte
	bits uint64
	n    int
}

func (w *bitWriter) u(n int, v uint32) {
	w.bits, w.n = w.bits<<n|uint64(v), w.n+n
	for w.n >= 8 {
		w.n -= 8
		w.out = append(w.out, byte(w.bits>>w.n))
	}
}

// ue writes an unsigned Exp-Golomb code (9.1), and se a signed one.
func (w *bitWriter) ue(v uint32) {
	n := bits.Len32(v + 1)
	w.u(n-1, 0)
	w.u(n, v+1)
}

func (w *bitWriter) se(v int) {
	if v > 0 {
		w.ue(uint32(2*v - 1))
	} else {
		w.ue(uint32(-2 * v))
	}
}

// align writes zeros up to the next byte.
func (w *bitWriter) align() {
	if w.n > 0 {
		w.u(8-w.n, 0)
	}
}

// nal ends a NAL unit and returns it with its header. It inserts the bytes that prevent a start code inside (7.4.1).
func (w *bitWriter) nal(header byte) []byte {
	w.u(1, 1)
	w.align()
	out := append(make([]byte, 0, len(w.out)+len(w.out)/64+1), header)
	zeros := 0
	for _, b := range w.out {
		if zeros == 2 && b <= 3 {
			out, zeros = append(out, 3), 0
		}
		if out = append(out, b); b == 0 {
			zeros++
		} else {
			zeros = 0
		}
	}
	return out
}

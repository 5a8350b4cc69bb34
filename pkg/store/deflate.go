package store

import (
	"bytes"
	"compress/flate"
	_ "embed" // the dictionary
	"fmt"
	"io"
	"sync"
)

// dictionary1 has the members of documents and of answers as they are stored, the most frequent last. It does not
// change once it is deployed, because stored data depends on it: a new dictionary is added with the next number. A
// release that reads it must precede the release that writes with it.
//
//go:embed dictionary1.txt
var dictionary1 []byte

// current is the number of the dictionary for new data.
const current = 1

// writers and readers are pooled, because each takes more memory than most documents.
var (
	writers = sync.Pool{New: func() any {
		w, err := flate.NewWriterDict(nil, flate.DefaultCompression, dictionary1)
		if err != nil {
			panic(err) // the level is a constant
		}
		return w
	}}
	readers = sync.Pool{New: func() any { return flate.NewReaderDict(nil, dictionary1) }}
)

// Pack compresses data. The first byte is the number of the dictionary.
func Pack(data []byte) []byte {
	packed := bytes.NewBuffer(append(make([]byte, 0, 64+len(data)/2), current))
	w := writers.Get().(*flate.Writer)
	defer writers.Put(w)
	w.Reset(packed)
	_, err := w.Write(data)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err) // a buffer refuses nothing
	}
	return packed.Bytes()
}

// DeflateUnpack returns the data that Pack compressed.
func DeflateUnpack(packed []byte) ([]byte, error) {
	if len(packed) == 0 || packed[0] != current {
		return nil, fmt.Errorf("deflate: the data is not written by dictionary %d", current)
	}
	r := readers.Get().(io.ReadCloser)
	defer readers.Put(r)
	if err := r.(flate.Resetter).Reset(bytes.NewReader(packed[1:]), dictionary1); err != nil {
		return nil, fmt.Errorf("deflate: %w", err)
	}
	data := bytes.NewBuffer(make([]byte, 0, 4*len(packed)))
	if _, err := io.Copy(data, r); err != nil {
		return nil, fmt.Errorf("deflate: %w", err)
	}
	return data.Bytes(), nil
}

package store_test

import (
	"bytes"
	"crypto/rand"
	"strings"
	"sync"
	"testing"

	"github.com/content-automation/api/pkg/store"
)

func TestWhatWasPackedIsUnpacked(t *testing.T) {
	random := make([]byte, 100_000)
	_, _ = rand.Read(random)
	var all sync.WaitGroup
	for _, data := range [][]byte{{}, []byte("{}"), []byte(`{"id":"cnt_1","title":"Grün","hashtags":[]}`),
		[]byte(strings.Repeat("word ", 50_000)), random} {
		for range 4 { // writers and readers are shared
			all.Go(func() {
				got, err := store.DeflateUnpack(store.Pack(data))
				if err != nil || !bytes.Equal(got, data) {
					t.Errorf("%d bytes became %d: %v", len(data), len(got), err)
				}
			})
		}
	}
	all.Wait()
}

// Documents that are stored must stay readable: this one was packed by dictionary 1.
func TestDictionary1StaysAsItIs(t *testing.T) {
	stored := []byte("\x01B*\x04\r\xb1\x16\x81\x86\x86\xbaFF!\x86\xa6VF\x06V\x06\x86\xf0\xd69\x96\xa0B\xe4D\xdfĔT\x85\xfc4\x85\xa2\xd4\xe4\xcadPM\x9f\x97ZR\x8cъ\x03\x04\x00\x00\xff\xff")
	got, err := store.DeflateUnpack(stored)
	if err != nil || string(got) != `{"id":"cnt_1","created_at":"2026-11-22T15:20:01.000Z","state":"generated","caption":"Made of recycled nets","role":"final"}` {
		t.Errorf("%s, %v", got, err)
	}
}

func TestWhatIsNoPackedDataIsRefused(t *testing.T) {
	whole := store.Pack([]byte(`{"id":"cnt_1"}`))
	for name, data := range map[string][]byte{
		"nothing": nil, "another dictionary": append([]byte{2}, whole[1:]...), "half of it": whole[:len(whole)/2],
		"JSON": []byte(`{"id":"cnt_1"}`),
	} {
		if got, err := store.DeflateUnpack(data); err == nil {
			t.Errorf("%s became %q", name, got)
		}
	}
	if got, err := store.DeflateUnpack(whole); err != nil || string(got) != `{"id":"cnt_1"}` {
		t.Errorf("after refusals: %q, %v", got, err)
	}
}

func BenchmarkPack(b *testing.B) {
	doc := []byte(strings.Repeat(`{"id":"cnt_1","title":"Grün","hashtags":[],"caption":"Made of recycled nets"}`, 25))
	for b.Loop() {
		store.Pack(doc)
	}
}

func BenchmarkUnpack(b *testing.B) {
	packed := store.Pack([]byte(
		strings.Repeat(`{"id":"cnt_1","title":"Grün","hashtags":[],"caption":"Made of recycled nets"}`, 25)))
	for b.Loop() {
		if _, err := store.DeflateUnpack(packed); err != nil {
			b.Fatal(err)
		}
	}
}

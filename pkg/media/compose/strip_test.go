package compose

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/media/probe"
)

// A video of a caller shows the same frames and has the same sound without its place, notes and further tracks.
func TestAVideoPlaysWithoutItsPlaceAndNotes(t *testing.T) {
	b := newBench(t)
	// ffmpeg writes the place as a text, or as the numbers of the box loci.
	const place, note = "+48.1371+011.5754/", "Shot at home by Alice"
	texts := b.part("way.srt", []byte("1\n00:00:00,000 --> 00:00:01,000\nGPS 48.1371 N "+note+"\n\n"+
		"2\n00:00:01,000 --> 00:00:02,000\nGPS 48.1372 N "+note+"\n"))
	source := b.part("source.mp4", b.sampleOf("video-9x16.mp4"))
	metadata := []string{"-metadata", "location=" + place, "-metadata", "title=" + note, "-metadata", "comment=" + note,
		"-metadata:s:v", "handler_name=" + note, "-metadata", "creation_time=2026-05-01T12:00:00Z"}
	for name, c := range map[string][]string{
		"a plain file":  {"-map", "0", "-map", "1"},
		"keys of Apple": {"-map", "0", "-map", "1", "-movflags", "use_metadata_tags"},
		"a fast start":  {"-map", "0", "-map", "1", "-movflags", "faststart"},
		"fragments":     {"-map", "0", "-map", "1", "-frag_duration", "300000"},
		"own fragments": {"-map", "0", "-map", "1", "-frag_duration", "300000", "-movflags", "default_base_moof"},
	} {
		before := filepath.Join(b.dir, "before.mp4")
		b.ffmpeg(slices.Concat([]string{"-display_rotation", "90", "-i", source, "-i", texts, "-c", "copy", "-c:s",
			"mov_text"}, metadata, c, []string{before})...)
		content, err := os.ReadFile(before)
		if err != nil {
			t.Fatal(err)
		}
		placed := bytes.Contains(content, []byte(place)) || bytes.Contains(content, []byte("loci"))
		if !placed || !bytes.Contains(content, []byte(note)) {
			t.Fatalf("%s: there is nothing to remove", name)
		}
		if bytes.Contains(content, []byte("moof")) != strings.Contains(name, "fragments") {
			t.Fatalf("%s: it is another kind of file", name)
		}
		f, err := probe.Decode(t.Context(), bytes.NewReader(content), int64(len(content)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		after := b.part("after.mp4", content)
		file, err := os.OpenFile(after, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Apply(file); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		left, err := os.ReadFile(after)
		if err != nil || len(left) != len(content) {
			t.Fatalf("%s: %d bytes, %v", name, len(left), err)
		}
		for _, text := range []string{note, place, "loci", "GPS 48"} {
			if bytes.Contains(left, []byte(text)) {
				t.Errorf("%s: %s is left", name, text)
			}
		}
		if was, is := b.decoded(before), b.decoded(after); was != is || strings.Count(is, "\n") < 20 {
			t.Errorf("%s: it was\n%s\nand is\n%s", name, was, is)
		}
		if told := b.ffmpeg("-i", after, "-f", "null", "-"); !strings.Contains(told, "rotation of") ||
			strings.Contains(told, "creation_time") || strings.Contains(told, "mov_text") {
			t.Errorf("%s: it is %s", name, told)
		}
	}
}

// A recording sounds the same without its notes.
func TestARecordingPlaysWithoutItsNotes(t *testing.T) {
	b := newBench(t)
	const note = "Said at home by Alice"
	before := filepath.Join(b.dir, "before.m4a")
	b.ffmpeg("-i", b.part("voice.mp3", b.sampleOf("voice.mp3")), "-c:a", "aac", "-metadata", "title="+note, before)
	content, err := os.ReadFile(before)
	if err != nil || !bytes.Contains(content, []byte(note)) {
		t.Fatalf("there is nothing to remove: %v", err)
	}
	f, err := probe.Decode(t.Context(), bytes.NewReader(content), int64(len(content)))
	if err != nil || f.MIMEType != "audio/mp4" || len(f.Content) != len(content) ||
		bytes.Contains(f.Content, []byte(note)) {
		t.Fatalf("%+v of %d bytes, %v", f.Info, len(f.Content), err)
	}
	if was, is := b.decoded(before), b.decoded(b.part("after.m4a", f.Content)); was != is || len(is) < 100 {
		t.Errorf("it was\n%s\nand is\n%s", was, is)
	}
}

// sampleOf returns a sample of the fakes of providers.
func (b *bench) sampleOf(name string) []byte {
	b.t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "providers", "sample", "media", name))
	if err != nil {
		b.t.Fatal(err)
	}
	return content
}

// decoded returns the times and hashes of the frames of the pictures and the sound of a file.
func (b *bench) decoded(path string) string {
	b.t.Helper()
	to := filepath.Join(b.dir, "frames.txt")
	b.ffmpeg("-i", path, "-map", "0:v?", "-map", "0:a?", "-f", "framemd5", to)
	lines, err := os.ReadFile(to)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(lines)
}

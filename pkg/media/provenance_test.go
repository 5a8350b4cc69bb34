package media_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/media/provenance"
)

// tools is where `make media-tools` installs.
var tools = filepath.Join("..", "..", ".tools", "media")

// kinds are files of every kind, as ffmpeg makes them.
var kinds = map[string][]string{
	"jpg":  {"-f", "lavfi", "-i", "testsrc2=s=320x400", "-frames:v", "1"},
	"png":  {"-f", "lavfi", "-i", "testsrc2=s=320x400", "-frames:v", "1"},
	"webp": {"-f", "lavfi", "-i", "testsrc2=s=320x401", "-frames:v", "1", "-c:v", "libwebp"},
	"lossless.webp": {"-f", "lavfi", "-i", "testsrc2=s=320x401,format=rgba,colorchannelmixer=aa=0.5", "-frames:v", "1",
		"-c:v", "libwebp", "-lossless", "1"},
	"mp4": {"-f", "lavfi", "-i", "testsrc2=s=320x400:d=1", "-f", "lavfi", "-i", "sine=d=1", "-c:v", "libx264", "-c:a",
		"aac", "-movflags", "+faststart"},
	"late.mp4": {"-f", "lavfi", "-i", "testsrc2=s=320x400:d=1", "-c:v", "libx264"}, // moov behind mdat
	"fragmented.mp4": {"-f", "lavfi", "-i", "testsrc2=s=320x400:d=1", "-c:v", "libx264", "-movflags",
		"frag_keyframe+empty_moov"},
	"m4a": {"-f", "lavfi", "-i", "sine=d=1", "-c:a", "aac"},
	"mp3": {"-f", "lavfi", "-i", "sine=d=1", "-c:a", "libmp3lame", "-metadata", "title=A song"},
	"v3.mp3": {"-f", "lavfi", "-i", "sine=d=1", "-c:a", "libmp3lame", "-metadata", "title=A song", "-id3v2_version",
		"3"},
	"bare.mp3": {"-f", "lavfi", "-i", "sine=d=1", "-c:a", "libmp3lame", "-id3v2_version", "0"},
	"wav":      {"-f", "lavfi", "-i", "sine=d=1"},
}

func build(t testing.TB, name string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a."+name)
	args := append([]string{"-v", "error", "-nostdin", "-y"}, kinds[name]...)
	if out, err := exec.CommandContext(t.Context(), filepath.Join(tools, "ffmpeg"), append(args, path)...).
		CombinedOutput(); err != nil {
		t.Fatalf("%v: %s (make media-tools installs what is missing)", err, out)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// tags are what exiftool reads in a file.
func tags(t testing.TB, path string) map[string]any {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "perl", filepath.Join(tools, "exiftool", "exiftool"), "-j", "-G",
		"-a", "-u", path).Output()
	var all []map[string]any
	if err == nil {
		err = json.Unmarshal(out, &all)
	}
	if err != nil || len(all) != 1 {
		t.Fatalf("exiftool of %s: %v, %s (it needs perl)", path, err, out)
	}
	return all[0]
}

// frames are the hashes of all decoded frames of a file.
func frames(t testing.TB, path string) string {
	t.Helper()
	var said bytes.Buffer
	cmd := exec.CommandContext(t.Context(), filepath.Join(tools, "ffmpeg"), "-v", "error", "-xerror", "-i", path, "-f",
		"framemd5", "-")
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil || said.Len() > 0 {
		t.Fatalf("ffmpeg of %s: %v: %s", path, err, said.String())
	}
	return string(out)
}

func saved(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a."+name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

var said = provenance.Statement{Source: provenance.Composite, Credit: `Müller & "Söhne" <GmbH>`,
	Systems: "FLUX 1.1 [pro], Kling 3"}

func TestOthersReadTheStatementInEveryKindOfFile(t *testing.T) {
	for name := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := build(t, name)
			after, err := provenance.Marked(t.Context(), before, said)
			if err != nil {
				t.Fatal(err)
			}
			path := saved(t, "a."+name, after)
			read := tags(t, path)
			for tag, want := range map[string]string{
				"XMP:Credit": said.Credit, "XMP:AISystemUsed": said.Systems,
				"XMP:DigitalSourceType": "http://cv.iptc.org/newscodes/digitalsourcetype/compositeWithTrainedAlgorithmicMedia",
			} {
				// exiftool has names for some terms.
				if got := fmt.Sprint(read[tag]); got != want && !(strings.HasPrefix(want, "http") &&
					strings.Contains(got, "Composite")) {
					t.Errorf("%s is %q, not %q", tag, got, want)
				}
			}
			if read["ExifTool:Warning"] != nil || read["ExifTool:Error"] != nil {
				t.Errorf("exiftool warns: %v %v", read["ExifTool:Warning"], read["ExifTool:Error"])
			}
			if strings.HasSuffix(name, "mp3") && name != "bare.mp3" && read["ID3:Title"] != "A song" {
				t.Errorf("the title is %v", read["ID3:Title"])
			}
			if frames(t, path) != frames(t, saved(t, "a."+name, before)) {
				t.Error("the frames are others than before")
			}
			found, err := provenance.Read(t.Context(), bytes.NewReader(after), int64(len(after)))
			if err != nil || found.Statement != said || found.Manifest {
				t.Errorf("found %+v, %v", found, err)
			}
		})
	}
}

// The mark of a model stays, and a file that is marked again has one statement.
func TestAnEarlierStatementIsKept(t *testing.T) {
	for name := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content := build(t, name)
			for _, s := range []provenance.Statement{
				{Source: provenance.Generated, Credit: "Made with a model", Systems: "Imagen"},
				{Source: provenance.Composite, Credit: "Acme", Systems: "FLUX"},
				{Source: provenance.Composite, Credit: "Acme", Systems: "FLUX"},
			} {
				var err error
				if content, err = provenance.Marked(t.Context(), content, s); err != nil {
					t.Fatal(err)
				}
			}
			want := provenance.Statement{Source: provenance.Composite, Credit: "Acme, Made with a model",
				Systems: "FLUX, Imagen"}
			found, err := provenance.Read(t.Context(), bytes.NewReader(content), int64(len(content)))
			if err != nil || found.Statement != want {
				t.Errorf("found %+v, %v", found, err)
			}
			// What is behind a file hides nothing that it says.
			more := append(bytes.Clone(content), "SEFT of a camera"...)
			if found, err := provenance.Read(t.Context(), bytes.NewReader(more), int64(len(more))); err != nil ||
				found.Statement != want {
				t.Errorf("found %+v, %v, with more behind it", found, err)
			}
			if read := tags(t, saved(t, "a."+name, content)); read["XMP:Credit"] != want.Credit {
				t.Errorf("exiftool reads %v", read["XMP:Credit"])
			}
		})
	}
}

func TestAStatementOfOthersIsRead(t *testing.T) {
	path := saved(t, "a.jpg", build(t, "jpg"))
	if out, err := exec.CommandContext(t.Context(), "perl", filepath.Join(tools, "exiftool", "exiftool"), "-q",
		"-XMP-iptcExt:DigitalSourceType=http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia",
		"-XMP-photoshop:Credit=Made with Google AI", path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	found, err := provenance.Read(t.Context(), bytes.NewReader(content), int64(len(content)))
	want := provenance.Statement{Source: provenance.Generated, Credit: "Made with Google AI"}
	if err != nil || found.Statement != want {
		t.Errorf("found %+v, %v", found, err)
	}
}

// A last box without a length reaches to the end of its file, which another box follows now.
func TestAnMP4WithoutALengthGetsOne(t *testing.T) {
	content := build(t, "late.mp4")
	last, at := 0, 0
	for at+8 <= len(content) {
		last = at
		at += int(binary.BigEndian.Uint32(content[at:]))
	}
	binary.BigEndian.PutUint32(content[last:], 0)
	after, err := provenance.Marked(t.Context(), content, said)
	if err != nil {
		t.Fatal(err)
	}
	if read := tags(t, saved(t, "a.mp4", after)); read["XMP:Credit"] != said.Credit {
		t.Errorf("exiftool reads %v", read["XMP:Credit"])
	}
	frames(t, saved(t, "b.mp4", after))
}

func TestWhatCannotBeMarkedStaysAsItIs(t *testing.T) {
	captions := []byte("WEBVTT\n\n00:00.000 --> 00:01.000\nWords.\n")
	got, err := provenance.Marked(t.Context(), captions, said)
	if err != nil || !bytes.Equal(got, captions) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := provenance.Read(t.Context(), bytes.NewReader(captions), int64(len(captions))); !errors.Is(err,
		provenance.ErrUnsupported) {
		t.Errorf("%v", err)
	}
}

func TestALongStatementIsCut(t *testing.T) {
	long := provenance.Statement{Source: provenance.Generated, Credit: strings.Repeat("ä", 40_000)}
	got, err := provenance.Marked(t.Context(), build(t, "jpg"), long)
	if err != nil {
		t.Fatal(err)
	}
	found, err := provenance.Read(t.Context(), bytes.NewReader(got), int64(len(got)))
	if err != nil || found.Credit != strings.Repeat("ä", 250) {
		t.Errorf("a credit of %d bytes, %v", len(found.Credit), err)
	}
}

// Whatever a file has, it is refused, or its copy has the statement and decodes to the same structure.
func FuzzFiles(f *testing.F) {
	for name := range kinds {
		content := build(f, name)
		f.Add(content[:min(len(content), 3000)])
		marked, err := provenance.Marked(f.Context(), content, said)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(marked[:min(len(marked), 3000)])
		f.Add(marked[max(len(marked)-3000, 0):])
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		before, err := provenance.Read(t.Context(), bytes.NewReader(content), int64(len(content)))
		if errors.Is(err, provenance.ErrUnsupported) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		s := provenance.Statement{Source: provenance.Generated, Credit: "A"}
		after, err := provenance.Marked(t.Context(), content, s)
		if err != nil {
			t.Fatal(err)
		}
		found, err := provenance.Read(t.Context(), bytes.NewReader(after), int64(len(after)))
		if err != nil || found.Source != s.Source || !strings.HasPrefix(found.Credit, "A") ||
			found.Manifest != before.Manifest {
			t.Fatalf("%.20q: before %+v, found %+v, %v", content, before, found, err)
		}
	})
}

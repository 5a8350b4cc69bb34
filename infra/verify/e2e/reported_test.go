//go:build !deployed

package e2e

import (
	"bytes"
	"image/jpeg"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// reportedFile is a file of public reports, and what a caller sees of it.
type reportedFile struct {
	path          string // below testdata/media
	width, height int
	seconds       float64
	// says is what the refusal of a file says that is not taken.
	says string
}

var reportedFiles = []reportedFile{
	{path: "pictures/exif5.jpg", width: 600, height: 400}, {path: "pictures/exif6.png", width: 600, height: 400},
	{path: "pictures/exif6.webp", width: 600, height: 400}, {path: "pictures/mpo.jpg", width: 600, height: 400},
	{path: "pictures/gray.jpg", width: 600, height: 400}, {path: "pictures/cmyk.jpg", width: 600, height: 400},
	{path: "pictures/gray_icc_exif6.jpg", width: 600, height: 400},
	{path: "pictures/pal_trns.png", width: 600, height: 400},
	{path: "pictures/p3.jpg", width: 1080, height: 1350}, {path: "pictures/p3.png", width: 1080, height: 1350},
	{path: "pictures/hidden_magenta.png", width: 1080, height: 1350},
	{path: "pictures/trailing.jpg", width: 1080, height: 1350}, {path: "pictures/noeoi.jpg", width: 1080, height: 1350},
	{path: "pictures/badcrc_text.png", width: 1080, height: 1350},
	{path: "pictures/badcrc_iccp.png", width: 1080, height: 1350},
	{path: "pictures/ours_signed.jpg", width: 1080, height: 1350},
	{path: "pictures/levels.webp", width: 1200, height: 800},
	{path: "pictures/strip_140x1.png", width: 140, height: 1}, {path: "pictures/30000x1.png", width: 30000, height: 1},
	{path: "pictures/apng.png", says: "animated"}, {path: "formats/still.avif", width: 600, height: 400},
	{path: "formats/qt.mov", width: 360, height: 640, seconds: 4},
	{path: "videos/rot_b.mp4", width: 360, height: 640, seconds: 4},
	{path: "videos/frag_full.mp4", width: 360, height: 640, seconds: 4},
	{path: "videos/frag_empty.mp4", width: 360, height: 640, seconds: 4},
	{path: "videos/sync.mp4", width: 360, height: 640, seconds: 4},
	{path: "videos/sync_late_audio.mp4", width: 360, height: 640, seconds: 4},
	{path: "videos/attached.mp4", width: 360, height: 640, seconds: 4},
	{path: "videos/timecode.mp4", width: 360, height: 640, seconds: 4},
	{path: "videos/editlist.mp4", width: 360, height: 640, seconds: 2.7},
	{path: "videos/sar43.mp4", width: 640, height: 360, seconds: 4},
	{path: "videos/hdr_hlg.mp4", width: 1280, height: 720, seconds: 3},
	{path: "videos/hdr_pq.mp4", width: 1280, height: 720, seconds: 3},
	{path: "videos/tagged709.mp4", width: 1280, height: 720, seconds: 3},
	{path: "videos/untagged709.mp4", width: 1280, height: 720, seconds: 3},
	{path: "videos/fullrange709.mp4", width: 1280, height: 720, seconds: 3},
	{path: "sound/concat_id3.mp3", seconds: 8.07}, {path: "sound/concat_rate.mp3", says: "rate"},
	{path: "sound/badheader_mid.mp3", seconds: 5}, {path: "sound/id3_zeros.mp3", seconds: 3.03},
	{path: "sound/vbr_wrong_xing.mp3", seconds: 20.04}, {path: "sound/wav_len0.wav", seconds: 3},
	{path: "sound/chapters.m4a", seconds: 5}, {path: "sound/dash.m4a", seconds: 5},
}

// reportedMIME has the types that callers declare, by the ends of the files' names.
var reportedMIME = map[string]string{".jpg": "image/jpeg", ".png": "image/png", ".webp": "image/webp",
	".avif": "image/avif", ".mov": "video/mp4", ".mp4": "video/mp4", ".mp3": "audio/mpeg", ".wav": "audio/wav",
	".m4a": "audio/mp4"}

// uploaded sends a file of testdata/media, and returns its id.
func uploaded(t *testing.T, secret, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, "testdata", "media", path))
	if err != nil {
		t.Fatal(err)
	}
	made := into[ownMedia](call(t, secret, http.MethodPost, "/v1/media",
		declared(reportedMIME[filepath.Ext(path)], content)), http.StatusCreated)
	if s := send(t, made, content); s != http.StatusOK {
		t.Fatalf("%s: the upload answers %d", path, s)
	}
	return made.ID
}

// Each file of public reports comes in with the size, the length and the colors that players show, or is refused with
// what it is.
func TestReportedFilesAreTaken(t *testing.T) {
	t.Parallel()
	secret := newCustomer(t).test.Secret
	ids := make([]string, len(reportedFiles))
	for i, f := range reportedFiles {
		ids[i] = uploaded(t, secret, f.path)
	}
	for i, f := range reportedFiles {
		m := settled(t, secret, ids[i])
		if f.says != "" {
			if m.State != "rejected" || !strings.Contains(m.Reason.Message, f.says) {
				t.Errorf("%s: %+v, %+v", f.path, m, m.Reason)
			}
			continue
		}
		kind, _, _ := strings.Cut(reportedMIME[filepath.Ext(f.path)], "/")
		if m.State != "ready" || m.Type != kind || m.Width != f.width || m.Height != f.height ||
			math.Abs(m.DurationSeconds-f.seconds) > 0.1 {
			t.Errorf("%s: %+v, %+v", f.path, m, m.Reason)
			continue
		}
		checkReportedThumbnail(t, f, m)
	}
}

// checkReportedThumbnail checks the colors of the small picture of a file, where the file has known ones.
func checkReportedThumbnail(t *testing.T, f reportedFile, m ownMedia) {
	t.Helper()
	var colors [][3]int
	switch filepath.Base(f.path) {
	case "p3.jpg", "p3.png":
		colors = [][3]int{{200, 60, 50}, {60, 160, 70}, {40, 80, 190}, {230, 180, 60}, {180, 60, 160}, {128, 128, 128}}
	case "levels.webp":
		colors = [][3]int{{255, 0, 0}} // below black and white
	default:
		return
	}
	if m.ThumbnailURL == nil {
		t.Errorf("%s has no thumbnail", f.path)
		return
	}
	small, err := jpeg.Decode(bytes.NewReader(download(t, *m.ThumbnailURL)))
	if err != nil {
		t.Fatalf("%s: %v", f.path, err)
	}
	size := small.Bounds().Size()
	for i, want := range colors {
		y := size.Y * (2*i + 1) / 12
		if len(colors) == 1 {
			y = size.Y * 11 / 12
		}
		r, g, b, _ := small.At(size.X/2, y).RGBA()
		for j, v := range []uint32{r, g, b} {
			if d := int(v>>8) - want[j]; max(d, -d) > 5 {
				t.Errorf("%s: the color %d is %d, %d, %d, and should be %v", f.path, i, r>>8, g>>8, b>>8, want)
				break
			}
		}
	}
}

// An own video is published in the shape in which it is seen, whole, in its length and in its colors.
func TestReportedVideosAreFitted(t *testing.T) {
	t.Parallel()
	secret := newCustomer(t).test.Secret
	factory := into[struct{ ID string }](call(t, secret, http.MethodPost, "/v1/factories", object{"type": "brand",
		"name": "Acme", "quality": "draft", "settings": object{"brand_name": "Acme"}}), http.StatusCreated).ID
	made := map[string]string{}
	videos := map[string]string{"rot_b.mp4": "short", "frag_empty.mp4": "short", "sar43.mp4": "long",
		"hdr_hlg.mp4": "long", "untagged709.mp4": "long", "tagged709.mp4": "long"}
	for name, format := range videos {
		id := uploaded(t, secret, "videos/"+name)
		settled(t, secret, id)
		it := into[contentItem](call(t, secret, http.MethodPost, contentPath, object{"factory_id": factory,
			"kind": "video", "source": "provided", "caption": "A film", "media": []string{id}, "fit": "pad"}),
			http.StatusAccepted)
		if it.Format != format {
			t.Errorf("%s has the format %q", name, it.Format)
		}
		made[name] = it.ID
	}
	for name, id := range made {
		got := ended(t, secret, id)
		if got.State != "generated" {
			t.Errorf("%s: %+v, %+v", name, got, got.Failure)
			continue
		}
		final, width, height, seconds := got.Media[0], 1080, 1920, 4.0
		if videos[name] == "long" {
			width, height = height, width
		}
		if strings.Contains(name, "709") || strings.Contains(name, "hdr") {
			seconds = 3
		}
		if final.Width != width || final.Height != height || math.Abs(final.DurationSeconds-seconds) > 0.15 {
			t.Errorf("%s: %+v", name, final)
		}
		checkBars(t, name, got.Media)
	}
}

// checkBars checks the green bar, which is the fourth of seven, in a video, its poster and its thumbnail.
func checkBars(t *testing.T, name string, all []file) {
	t.Helper()
	seen := map[string]string{"thumbnail": *all[0].ThumbnailURL}
	for _, f := range all {
		if f.Role == "final" || f.Role == "poster" {
			seen[f.Role] = f.URL
		}
	}
	if len(seen) != 3 {
		t.Errorf("%s has %v", name, seen)
	}
	for what, url := range seen {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, download(t, url), 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"-v", "error", "-i", path, "-frames:v", "1", "-vf", "crop=2:2:iw/2:ih*0.45", "-f", "rawvideo",
			"-pix_fmt", "rgb24", "-"}
		rgb, err := exec.CommandContext(t.Context(), filepath.Join(root, ".tools", "media", "ffmpeg"), args...).Output()
		if err != nil || len(rgb) < 3 {
			t.Fatalf("%s: %d bytes, %v", name, len(rgb), err)
		}
		for i, want := range []int{0, 191, 0} {
			if d := int(rgb[i]) - want; max(d, -d) > 14 {
				t.Errorf("%s: green is %v in the %s", name, rgb[:3], what)
				break
			}
		}
	}
}

// Each text of public reports is drawn whole, or refused with its place before anything costs. Nothing is charged and
// then lost.
func TestReportedTextsAreDrawnOrRefused(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	c.topUp(10_000)
	secret := c.live.Secret
	factory := c.factory(secret)
	table, err := os.ReadFile(filepath.Join(root, "testdata", "media", "texts.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	made := map[string]string{}
	for row := range strings.Lines(string(table)) {
		cells := strings.Split(row, "\t")
		if len(cells) < 4 || cells[2] != "headline" {
			continue
		}
		a := call(t, secret, http.MethodPost, contentPath, object{"factory_id": factory, "kind": "post",
			"prompt": "A shoe made of nets", "language": cells[1], "headline": cells[3], "caption": "A caption"})
		if a.Status == http.StatusUnprocessableEntity {
			if a.Error == nil || a.Error.Param != "/headline" || !strings.Contains(a.Error.Message, "at the place") {
				t.Errorf("%s: %+v", cells[0], a.Error)
			}
			if cells[0] != "cantonese" && cells[0] != "mathbold" {
				t.Errorf("%s is refused: %+v", cells[0], a.Error)
			}
			continue
		}
		made[cells[0]] = into[contentItem](a, http.StatusAccepted).ID
	}
	if len(made) < 10 {
		t.Errorf("%d texts are taken", len(made))
	}
	for name, id := range made {
		if got := ended(t, secret, id); got.State != "generated" {
			t.Errorf("%s: %+v, %+v", name, got, got.Failure)
		}
	}
}

// A script with a word that no font has is refused with its place, unless its captions are in the file alone, which
// keeps the word.
func TestCaptionsInTheFileAloneKeepEveryWord(t *testing.T) {
	t.Parallel()
	secret := newCustomer(t).test.Secret
	const word = "მაღაზია"
	made := func(style string) answer {
		factory := into[struct{ ID string }](call(t, secret, http.MethodPost, "/v1/factories", object{"type": "brand",
			"name": "Acme", "quality": "draft", "settings": object{"brand_name": "Acme", "caption_style": style}}),
			http.StatusCreated).ID
		return call(t, secret, http.MethodPost, contentPath, object{"factory_id": factory, "kind": "video",
			"prompt": "A shop", "visuals": "stills", "script": "This is the old corner shop, " +
				"which is called " + word + " by the locals. It sells bread and milk, and it opens at six every morning. " +
				"Come by and see it one day."})
	}
	a := made("words")
	if a.Status != http.StatusUnprocessableEntity || a.Error.Param != "/script" ||
		!strings.Contains(a.Error.Message, "caption_style") {
		t.Errorf("%d, %+v", a.Status, a.Error)
	}
	got := ended(t, secret, into[contentItem](made("none"), http.StatusAccepted).ID)
	kept := false
	for _, f := range got.Media {
		if f.MIMEType == "text/vtt" {
			kept = strings.Contains(string(download(t, f.URL)), word)
		}
	}
	if got.State != "generated" || !kept {
		t.Errorf("%+v, %+v: the word is kept: %t", got, got.Failure, kept)
	}
}

//go:build console

package console

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"image"
	"image/draw"
	"image/jpeg"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/poll"
	"github.com/content-automation/api/testdata/platforms/telegram"
)

// keep has the pictures of README and docs/console.md replaced by those that the test takes.
var keep = flag.Bool("pictures", false, "put the pictures of the account area into docs/console")

// mostOfAPicture is the size of a picture in bytes.
const mostOfAPicture = 120_000

// shots are parts of a picture of the documentation, in which finished media stand in rows.
func shots(t *testing.T) (all [][]byte) {
	t.Helper()
	file, err := os.Open("../../../docs/media/ratios.jpg")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	whole, err := jpeg.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []int{12, 224, 436, 648, 860} {
		part := image.NewRGBA(image.Rect(0, 0, 800, 1000))
		for y := range 1000 { // four times as large, as platforms want it
			for at := range 800 {
				part.Set(at, y, whole.At(x+at/4, 274+y/4))
			}
		}
		var out bytes.Buffer
		if err := jpeg.Encode(&out, draw.Image(part), nil); err != nil {
			t.Fatal(err)
		}
		all = append(all, out.Bytes())
	}
	return all
}

// upload brings a picture in, and returns its id.
func (s *system) upload(t *testing.T, content []byte) string {
	t.Helper()
	sum := sha256.Sum256(content)
	made := s.must(t, "POST", "/v1/media", object{"mime_type": "image/jpeg", "bytes": len(content),
		"sha256": hex.EncodeToString(sum[:])}, 201)
	to := made["upload"].(object)
	req, err := http.NewRequestWithContext(t.Context(), to["method"].(string), to["url"].(string),
		bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range to["headers"].(object) {
		req.Header.Set(name, value.(string))
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	id := made["id"].(string)
	poll.Until(t, "the picture is ready", func() bool {
		return s.must(t, "GET", "/v1/media/"+id, nil, 200)["state"] == "ready"
	})
	return id
}

// TestPicturesOfTheAccountArea takes the pictures of README and docs/console.md of an agency with clients and posts:
// go test -tags console -run TestPictures ./infra/verify/console -pictures.
func TestPicturesOfTheAccountArea(t *testing.T) {
	s := start(t)
	names := []string{"Harbour Coffee", "Peak Cycles", "Tea House", "Nordlicht Bäckerei"}
	captions := []string{"Five things that nobody tells you about fishing nets", "A rainy day and a hot cup",
		"New today: shoes made of nets", "How we roast", "The first ride of spring"}
	var media []string
	for _, shot := range shots(t) {
		media = append(media, s.upload(t, shot))
	}
	day := s.clock.now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1).Add(8 * time.Hour)
	for n, name := range names {
		profile := s.must(t, "POST", "/v1/profiles", object{"name": name, "spend_limit_credits": 5000},
			201)["id"].(string)
		account := s.must(t, "POST", "/v1/social/accounts", object{"platform": "telegram", "bot_token": telegram.Token,
			"channel": telegram.Channel, "profile_id": profile}, 201)["id"].(string)
		factory := s.must(t, "POST", "/v1/factories", object{"type": "brand", "name": name + " posts",
			"settings": object{"brand_name": name}, "profile_id": profile, "approval": "required"}, 201)["id"].(string)
		for k := range 4 {
			item := s.must(t, "POST", "/v1/content-items", object{"factory_id": factory, "kind": "post",
				"source": "provided", "caption": captions[(n+k)%len(captions)],
				"media": []string{media[(n+k)%len(media)]}}, 202)["id"].(string)
			if k < 2 {
				s.must(t, "POST", "/v1/approvals/"+item+"/approve", nil, 200)
			}
			s.must(t, "POST", "/v1/content-items/"+item+"/schedule", object{"social_account_ids": []string{account},
				"publish_at": day.AddDate(0, 0, (n+k)%5).Add(time.Duration(n) * time.Hour)}, 200)
		}
	}
	folder := t.TempDir()
	if *keep {
		folder = filepath.Join("..", "..", "..", "docs", "console")
	}
	folder, err := filepath.Abs(folder)
	if err == nil {
		err = os.MkdirAll(folder, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.inChromium(t, "pictures.mjs", nil, map[string]any{"folder": folder,
		"week": fmt.Sprintf("/settings/calendar?view=week&date=%s", day.Format(time.DateOnly))})
	for _, name := range []string{"today", "approvals", "calendar", "front"} {
		info, err := os.Stat(filepath.Join(folder, name+".jpg"))
		if err != nil {
			t.Error(err)
			continue
		}
		if info.Size() > mostOfAPicture || info.Size() < 10_000 {
			t.Errorf("%s.jpg has %d bytes", name, info.Size())
		}
	}
}

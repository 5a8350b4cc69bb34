package platform_test

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/testdata/platforms/control"
)

// silence is an answer with the status of a success that says nothing of what was called, once. It has no effect.
func silence(call, body string) control.Answer {
	return control.Answer{Call: regexp.MustCompile(call), Status: http.StatusOK, Body: body}
}

// silences are the bodies: nothing, and the page of a proxy.
var silences = []string{"{}", "null", `{"error":null}`, "<!DOCTYPE html><html>We are back soon</html>"}

type teller interface{ Say(a control.Answer) }

// A call is made only once the platform has said so: a success that names nothing is asked for again, and a post of
// which nothing was said is not called published.
func TestSuccessesThatSayNothing(t *testing.T) {
	photo := platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "A shoe", Media: []platform.Media{fixture.Image("a")}}
	video := platform.Post{Key: "pub_2", Kind: platform.KindVideo, Title: "A shoe", Caption: "It runs",
		Media: []platform.Media{fixture.Video("a", 9000)}}
	reel := video
	reel.Media = shaped(video.Media[0], 1080, 1920)
	for name, c := range map[string]struct {
		open  func() *platformtest.Fixture
		post  platform.Post
		call  string
		posts bool
	}{
		"X, end of an upload":         {newXFixture, photo, "^POST /2/media/upload/[0-9]+/finalize$", false},
		"X, state of a video":         {newXFixture, video, "^GET /2/media/upload$", false},
		"Facebook, file of a Reel":    {newFacebookFixture, reel, "^POST /upload/", false},
		"Facebook, end of a Reel":     {newFacebookFixture, reel, "^POST .*/video_reels$", true},
		"Bluesky, limits of a day":    {newBlueskyFixture, video, "getUploadLimits$", false},
		"VK, upload of a photo":       {newVKFixture, photo, "^POST /upload", false},
		"VK, upload of a video":       {newVKFixture, video, "^POST /upload", false},
		"Telegram, sending a message": {newTelegramFixture, photo, "/sendPhoto$", true},
	} {
		for _, body := range silences {
			f := c.open()
			a := silence(c.call, body)
			if name == "Facebook, end of a Reel" {
				a.After = 1 // the first call begins the upload of the Reel
			}
			if name == "Telegram, sending a message" {
				a.Body = `{"ok":true,"result":` + map[bool]string{true: "{}", false: `{"message_id":0}`}[body == "{}"] + "}"
			}
			f.Fake.(teller).Say(a)
			p, first, last := fixture.Follow(t.Context(), t, f, c.post)
			switch posts := len(f.Fake.Posts()); {
			case first == nil:
				t.Errorf("%s, answered %q: it was taken for a success, or not called", name, body)
			case !c.posts && (!p.Done() || posts != 1):
				t.Errorf("%s, answered %q: %d posts, ended with %v", name, body, posts, last)
			case c.posts && (p.Done() || posts != 0 || last.Code != platform.CodeOutcomeUnknown):
				t.Errorf("%s, answered %q: %d posts, done %v, ended with %v", name, body, posts, p.Done(), last)
			}
			f.Close()
		}
	}
	for name, open := range map[string]func() *platformtest.Fixture{"X": newXFixture, "Facebook": newFacebookFixture,
		"Threads": newThreadsFixture} {
		for _, body := range silences {
			f := open()
			p, err := platformtest.Publish(t.Context(), f, f.Account, platform.Post{Key: "pub_1", Kind: platform.KindPost,
				Caption: "A shoe"})
			if err != nil {
				t.Fatal(err)
			}
			d := f.Adapter.(platform.Deleter)
			post := platform.PlacedPost{PublishedPost: p.Post, Parts: 1}
			f.Fake.(teller).Say(silence("^DELETE ", body))
			if err := d.Delete(t.Context(), f.Account, post); !platform.Passes(err) || len(f.Fake.Posts()) != 1 {
				t.Errorf("%s, a deletion answered %q: %v, %d posts", name, body, err, len(f.Fake.Posts()))
			}
			if err := d.Delete(t.Context(), f.Account, post); err != nil || len(f.Fake.Posts()) != 0 {
				t.Errorf("%s, a deletion again: %v, %d posts", name, err, len(f.Fake.Posts()))
			}
			f.Close()
		}
	}
}

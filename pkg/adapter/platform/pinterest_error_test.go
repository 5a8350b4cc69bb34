package platform_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	fake "github.com/content-automation/api/testdata/platforms/pinterest"
)

// Each answer of Pinterest has its outcome: the pin is made once, later or at once, or it ends with Pinterest's words.
func TestTheAnswersOfPinterest(t *testing.T) {
	video := platform.Post{Key: "pub_2", Kind: platform.KindVideo, Caption: "It runs",
		Media: []platform.Media{fixture.Video("b", 9000)}}
	refused := fixture.Refused
	content := func(words string) fixture.Ending { return refused(platform.CodeContentRefused, words) }
	barred := fixture.Barred("Your token does not have sufficient permissions")
	later := func(after time.Duration, words string) fixture.Ending {
		return fixture.Later(platform.Retry, after, words)
	}
	revoked := fixture.Ended("").OfRefresh()
	outcomes := map[string]fixture.Ending{
		"trial":           refused(platform.CodeNotConfigured, "Apps with Trial access"),
		"trial, code 3":   refused(platform.CodeNotConfigured, "Standard access"),
		"consumer type":   refused(platform.CodeNotConfigured, "consumer type"),
		"missing scope":   barred,
		"telescopes":      content("Pins about telescopes"),
		"another board":   content("You are not permitted to access that resource."),
		"spam":            later(time.Hour, "combat spam"),
		"no board":        content("Board not found."),
		"no section":      content("Board section not found."),
		"unreachable":     later(0, "Unable to reach the URL."),
		"not fetched":     later(0, "could not fetch the image"),
		"on our end":      later(0, "Something went wrong"),
		"busy board":      later(0, "exclusive access"),
		"invalid":         content("'title' is too long"),
		"invalid media":   content("The image is too small."),
		"something new":   content("seventh house"),
		"unauthorized":    {First: platform.Expired, Words: "Authentication failed."},
		"limit":           later(45*time.Second, "exceeded your rate limit"),
		"limit, reset":    later(time.Hour, "exceeded your rate limit"),
		"limit, reset at": later(2*time.Minute, "exceeded your rate limit"),
		"upload: refused": refused(platform.CodeMediaRefused, "Invalid media type.").Of(video),
		"upload: outage":  later(0, "Service unavailable.").Of(video),
		"upload: end":     later(0, "Something went wrong").Of(video),
		"upload: new":     later(20*time.Second, "teapot").Of(video),
		"upload: denied":  barred.Of(video),
		"upload: storage": later(0, "").Of(video),
		"video: gone":     fixture.Ending{}.Of(video),
		"video: failed":   fixture.Ending{}.Of(video),
		"video: always fails": {Post: video, Always: true, Kind: platform.BadContent, Code: platform.CodeMediaRefused,
			Cause: "pinterest: processing failed without a reason"},
		"figures: denied":    {},
		"figures: gone":      {},
		"token: revoked":     revoked,
		"token: 401":         revoked,
		"token: application": later(0, "Authentication failed.").OfRefresh(),
		"token: our form":    later(0, "grant_type").OfRefresh(),
		"token: denied":      later(0, "").OfRefresh(),
	}
	fixture.Endings(t, newPinterestFixture, pinterestPhoto, fake.Answers, fixture.WithRefreshes(outcomes))
}

// Figures that Pinterest does not show say nothing about the account.
func TestFiguresThatPinterestDoesNotShow(t *testing.T) {
	for name, code := range map[string]platform.Code{"figures: denied": platform.CodeMissingPermission,
		"figures: gone": platform.CodePostNotFound} {
		f := newPinterestFixture()
		f.Fake.(*fake.Fake).Say(fake.Answers[name])
		_, err := f.Adapter.Metrics(t.Context(), f.Account, platform.PublishedPost{ID: "1"})
		if platform.CodeOf(err) != code || platform.KindOf(err) != platform.BadContent || !platform.Untold(err) {
			t.Errorf("%s: %v", name, err)
		}
		f.Close()
	}
}

// All boards are offered, and all sections listed, from all pages.
func TestManyBoardsAndSections(t *testing.T) {
	f := newPinterestFixture()
	defer f.Close()
	of := f.Fake.(*fake.Fake)
	for n := range 250 {
		of.Boards = append(of.Boards, fake.Named{ID: fmt.Sprint(9_000_000 + n), Name: fmt.Sprintf("Board %d", n)})
		of.Sections = append(of.Sections, fake.Named{ID: fmt.Sprint(8_000_000 + n), Name: fmt.Sprintf("Section %d", n)})
	}
	for choice, want := range map[string]int{"": 251, "9000249": 1, "Board 201": 1} {
		grant, err := fixture.OAuthGrant(f)
		if err != nil {
			t.Fatal(err)
		}
		grant.Choice = choice
		accounts, err := f.Adapter.Connect(t.Context(), grant)
		if err != nil || len(accounts) != want {
			t.Errorf("%q: %d boards, %v", choice, len(accounts), err)
		}
	}
	found, err := f.Adapter.(platform.Finder).Lookup(t.Context(), f.Account, platform.LookupBoard, "")
	if err != nil || len(found) != 251 || found[250].Name != "Section 249" {
		t.Errorf("%d sections, %v", len(found), err)
	}
}

// A first frame is told in seconds, and the bounds of a pin are those of Pinterest's document.
func TestWhatPinterestTakes(t *testing.T) {
	clip := platform.Post{Key: "pub_1", Kind: platform.KindVideo, Caption: "It runs",
		Media: []platform.Media{fixture.Video("b", 9000)}, Options: platform.Options{CoverAt: 12 * time.Minute}}
	f := newPinterestFixture()
	defer f.Close()
	if _, err := platformtest.Publish(t.Context(), f, f.Account, clip); err != nil {
		t.Error(err)
	}
	for member, change := range map[string]func(*platform.Post){
		"title":       func(p *platform.Post) { p.Title = strings.Repeat("я", 101) },
		"description": func(p *platform.Post) { p.Caption, p.Hashtags = strings.Repeat("я", 801), nil },
		"alt_text":    func(p *platform.Post) { p.Media[0].Alt = strings.Repeat("я", 501) },
	} {
		f := newPinterestFixture()
		post := pinterestPhoto
		post.Media = []platform.Media{fixture.Image("a")}
		change(&post)
		_, err := platformtest.Publish(t.Context(), f, f.Account, post)
		if e, ok := err.(*platform.Error); !ok || e.Code != platform.CodeContentRefused ||
			!strings.Contains(e.Words, member) {
			t.Errorf("%s: %v", member, err)
		}
		f.Close()
	}
}

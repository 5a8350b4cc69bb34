package platform_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/linkedin"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	fake "github.com/content-automation/api/testdata/platforms/linkedin"
	"github.com/content-automation/api/testdata/platforms/oauth"
)

// fixtureOf returns a fixture with an account of the fake's user.
func fixtureOf(account string) func() *platformtest.Fixture {
	return func() *platformtest.Fixture {
		return fixture.New(
			func(now func() time.Time) fixture.Fake { return fake.New(now) },
			func(cfg wire.Config) platform.Adapter { return linkedin.New(cfg) },
			func(f fixture.Fake) platform.Account {
				access, refresh := f.(*fake.Fake).Grant(60 * 24 * time.Hour)
				return platform.Account{ID: account, Token: platform.Token{Access: platform.Secret(access),
					Refresh: platform.Secret(refresh)}}
			},
		)
	}
}

func linkedinDescribed(name string) platform.Media {
	m := fixture.Image(name)
	m.Alt = "A red shoe"
	return m
}

var (
	linkedinText = platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "A shoe (new) for @acme_news: 50 * 2",
		Hashtags: []string{"shoes", "run_ning"}, Options: platform.Options{FirstComment: "More at acme.example"}}
	document = platform.Post{Key: "pub_2", Kind: platform.KindCarousel, Title: "Ten shoes", Caption: "Shoes",
		Media:   []platform.Media{fixture.Image("a"), fixture.Image("b")},
		Options: platform.Options{Own: linkedin.Options{Document: true}}}
)

// usual are the metrics without a right to figures.
var linkedinUsual = []string{"likes", "comments"}

// rights are the scopes of an application that may read figures.
var rights = []string{"w_member_social", "w_organization_social", "rw_organization_admin", "r_member_postAnalytics"}

// social are the scopes that show reactions and comments, too.
var social = []string{"w_member_social", "w_organization_social", "r_member_social", "r_organization_social"}

// seen returns a fixture whose account has the right to reactions and comments.
func seen(account string) func() *platformtest.Fixture {
	return func() *platformtest.Fixture {
		f := fixtureOf(account)()
		f.Fake.(*fake.Fake).Extra = social
		return f
	}
}

// linkedinMeasured returns a fixture whose account has the right to figures.
func linkedinMeasured(account string) func() *platformtest.Fixture {
	return func() *platformtest.Fixture {
		f := seen(account)()
		f.Fake.(*fake.Fake).OAuth.Scopes = rights
		f.Account.Token.Scopes = slices.Concat(rights, social)
		return f
	}
}

// The metrics of a post are those of its kind of account. Those whose right is missing, or that LinkedIn does not have
// yet, are unknown, and are no error.
func TestStatisticsOfPosts(t *testing.T) {
	video := platform.Post{Key: "pub_4", Kind: platform.KindVideo, Title: "A shoe", Caption: "It runs",
		Media: []platform.Media{fixture.Video("d", 9000)}}
	for name, c := range map[string]struct {
		account string
		change  func(*platformtest.Fixture)
		want    []string
	}{
		"an organisation": {fake.Organization, nil,
			[]string{"impressions", "reach", "likes", "comments", "shares", "clicks"}},
		"a member": {fake.Member, nil, []string{"impressions", "reach", "likes", "comments", "shares"}},
		"an organisation without the right": {fake.Organization, func(f *platformtest.Fixture) {
			f.Account.Token.Scopes = social
		}, linkedinUsual},
		"a member without the right": {fake.Member, func(f *platformtest.Fixture) {
			f.Account.Token.Scopes = social
		}, linkedinUsual},
		"a former administrator": {fake.Organization, func(f *platformtest.Fixture) {
			f.Fake.(*fake.Fake).OAuth.Scopes = fake.MemberScopes
		}, linkedinUsual},
		"a right that was withdrawn": {fake.Member, func(f *platformtest.Fixture) {
			f.Fake.(*fake.Fake).OAuth.Scopes = fake.MemberScopes
		}, linkedinUsual},
		"a post that nobody has seen": {fake.Organization, func(f *platformtest.Fixture) {
			f.Fake.(*fake.Fake).Unseen = true
		}, linkedinUsual},
	} {
		for _, post := range []platform.Post{linkedinText, video} {
			f := linkedinMeasured(c.account)()
			if c.change != nil {
				c.change(f)
			}
			done, err := platformtest.Publish(t.Context(), f, f.Account, post)
			if err != nil {
				t.Fatal(err)
			}
			m, err := f.Adapter.Metrics(t.Context(), f.Account, done.Post)
			if got := m.Names(); err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%s, %s: %v, %v, want %v", name, post.Kind, got, err, c.want)
			}
			f.Fake.Fail(f.Fake.Calls()+2, platformtest.ServerError)
			_, err = f.Adapter.Metrics(t.Context(), f.Account, done.Post)
			if asked := !slices.Equal(f.Account.Token.Scopes, social); (err != nil) != asked {
				t.Errorf("%s, %s: with a fault in the statistics: %v", name, post.Kind, err)
			}
			f.Close()
		}
	}
}

// The days of an organisation have the gains of followers up to two days ago. Those of a member are unknown.
func TestTheDaysOfAnOrganisation(t *testing.T) {
	f := linkedinMeasured(fake.Organization)()
	defer f.Close()
	today := platform.Midnight(f.Now())
	days, err := f.Adapter.(platform.AccountReader).Days(t.Context(), f.Account, today.AddDate(0, 0, -6))
	if err != nil || len(days) != 7 || days[6].Followers == nil || *days[6].Followers != 2400 || days[6].Gained != nil {
		t.Fatalf("%+v, %v", days, err)
	}
	for i, d := range days[:5] {
		if d.Gained == nil || *d.Gained != int64(d.Date.Day()+1) || d.Clicks == nil || *d.Clicks != 21 {
			t.Errorf("the day %d is %+v", i, d)
		}
	}
	for _, change := range []func(*platform.Account){
		func(a *platform.Account) { a.ID = fake.Member },
		func(a *platform.Account) { a.Token.Scopes = fake.MemberScopes },
	} {
		a := f.Account
		change(&a)
		calls := f.Fake.Calls()
		if _, err := f.Adapter.(platform.AccountReader).Days(t.Context(), a, today); !platform.Denied(err) ||
			f.Fake.Calls() != calls {
			t.Errorf("%s with %v: %v", a.ID, a.Token.Scopes, err)
		}
	}
}

func TestConformanceOnLinkedIn(t *testing.T) {
	fixture.Run(t, "linkedin", platformtest.Suite{
		New: seen(fake.Member), Measured: linkedinMeasured(fake.Organization),
		Posts: []platformtest.Named{
			{Name: "text with a comment", Post: linkedinText, Metrics: linkedinUsual},
			{Name: "photo", Post: platform.Post{Key: "pub_3", Kind: platform.KindPost, Caption: "A shoe",
				Media: []platform.Media{linkedinDescribed("c")}, Options: platform.Options{Privacy: platform.Friends}},
				Metrics: linkedinUsual},
			{Name: "video", Post: platform.Post{Key: "pub_4", Kind: platform.KindVideo, Title: "A shoe",
				Caption: "It runs", Media: []platform.Media{fixture.Video("d", 9000)}}, Metrics: linkedinUsual},
			{Name: "images", Post: platform.Post{Key: "pub_5", Kind: platform.KindCarousel, Caption: "Shoes",
				Media: []platform.Media{fixture.Image("e"), linkedinDescribed("f")}}, Metrics: linkedinUsual},
			{Name: "document", Post: document, Metrics: linkedinUsual},
			{Name: "music clip", Post: platform.Post{Key: "pub_6", Kind: platform.KindMusicClip, Caption: "A song",
				Media: []platform.Media{fixture.Video("g", 9000)}}, Metrics: linkedinUsual},
		},
		Grant: fixture.OAuthGrant, BadGrants: fixture.BadOAuthGrants(),
	})
}

// The posts of an organisation can be read, so that a lost answer is found.
func TestALostPostOfAnOrganisationIsFound(t *testing.T) {
	post := document
	for account, want := range map[string]platform.ErrorKind{fake.Organization: 0, fake.Member: platform.Unknown} {
		clean := fixtureOf(account)()
		if _, err := platformtest.Publish(t.Context(), clean, clean.Account, post); err != nil {
			t.Fatal(err)
		}
		f := fixtureOf(account)()
		f.Fake.Fail(clean.Fake.Calls(), platformtest.AnswerLost) // the post is the last call
		done, err := platformtest.Publish(t.Context(), f, f.Account, post)
		if n := len(f.Fake.Posts()); n != 1 || want == 0 && (err != nil || done.Post.URL == "") ||
			want != 0 && platform.KindOf(err) != want {
			t.Errorf("%s: %+v, %v with %d posts", account, done, err, n)
		}
		clean.Close()
		f.Close()
	}
}

// Characters of LinkedIn's own format are escaped, and hashtags stay hashtags.
func TestTheFormatOfTexts(t *testing.T) {
	f := fixtureOf(fake.Member)()
	defer f.Close()
	if _, err := platformtest.Publish(t.Context(), f, f.Account, linkedinText); err != nil {
		t.Fatal(err)
	}
	want := `A shoe \(new\) for \@acme\_news: 50 \* 2` + "\n\n" +
		`{hashtag|\#|shoes} {hashtag|\#|run\_ning}`
	if got := f.Fake.(*fake.Fake).Published()[0].Content; !strings.Contains(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A hashtag is one as a whole, in every script.
func TestHashtagsAreWholeOnLinkedIn(t *testing.T) {
	for caption, want := range map[string]string{
		"#हिन्दी":                       `{hashtag|\#|हिन्दी}`,
		"#ไทยแลนด์ a":                   `{hashtag|\#|ไทยแลนด์} a`,
		"#cafe\u0301":                   "{hashtag|\\#|cafe\u0301}",
		"＃東京。":                          `{hashtag|\#|東京}。`,
		"(#sale_1)":                     `\({hashtag|\#|sale\_1}\)`,
		"#2026 a#b":                     `\#2026 a\#b`,
		"https://example.com/#fragment": `https://example.com/\#fragment`,
	} {
		f := fixtureOf(fake.Member)()
		_, err := platformtest.Publish(t.Context(), f, f.Account, platform.Post{Key: "pub_1", Kind: platform.KindPost,
			Caption: caption})
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Fake.(*fake.Fake).Published()[0].Content; !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		f.Close()
	}
}

// An application with the Community Management API requests its scopes, and offers organisations.
func TestOrganisationsNeedTheirScopes(t *testing.T) {
	scopes := append([]string{"w_organization_social", "r_organization_social", "rw_organization_admin"},
		fake.MemberScopes...)
	f := fixtureOf(fake.Member)()
	defer f.Close()
	f.Fake.(*fake.Fake).OAuth.Scopes = scopes
	f.Adapter = linkedin.New(wire.Config{HTTP: f.HTTP, BaseURL: baseOf(t, f), Now: f.Now,
		App: func(context.Context) (platform.App, error) {
			return platform.App{ID: oauth.ClientID, Secret: oauth.ClientSecret, Scopes: strings.Join(scopes, " ")}, nil
		}})
	grant, err := fixture.OAuthGrant(f)
	if err != nil {
		t.Fatal(err)
	}
	accounts, err := f.Adapter.Connect(t.Context(), grant)
	if err != nil || len(accounts) != 2 || accounts[1].ID != fake.Organization || accounts[1].Name != "Acme" {
		t.Errorf("%+v, %v", accounts, err)
	}
}

// Without a refresh token, the end of access is known, and an ended token has to be connected again.
func TestAnApplicationWithoutRefreshTokens(t *testing.T) {
	f := fixtureOf(fake.Member)()
	defer f.Close()
	f.Fake.(*fake.Fake).Unapproved = true
	grant, err := fixture.OAuthGrant(f)
	if err != nil {
		t.Fatal(err)
	}
	accounts, err := f.Adapter.Connect(t.Context(), grant)
	if err != nil || len(accounts) != 1 || !accounts[0].Token.ExpiresAt.IsZero() ||
		!accounts[0].Token.EndsAt.Equal(f.Now().Add(60*24*time.Hour)) {
		t.Fatalf("%+v, %v", accounts, err)
	}
	f.Fake.Expire()
	if _, err := platformtest.Publish(t.Context(), f, accounts[0],
		linkedinText); platform.KindOf(err) != platform.Reconnect {
		t.Errorf("got %v, want %s", err, platform.Reconnect)
	}
}

// Comments on posts of members are read with a right that few applications have.
func TestCommentsOnPostsOfMembers(t *testing.T) {
	f := fixtureOf(fake.Member)()
	defer f.Close()
	reader := f.Adapter.(platform.CommentReader)
	post := platform.PublishedPost{ID: "urn:li:share:1"}
	var e *platform.Error
	if _, err := reader.Comments(t.Context(), f.Account, post, ""); !errors.As(err, &e) ||
		e.Code != platform.CodeUnsupported || f.Fake.Calls() != 0 {
		t.Errorf("got %v after %d calls", err, f.Fake.Calls())
	}
	f.Account.Token.Scopes = []string{"r_member_social"}
	if _, err := reader.Comments(t.Context(), f.Account, post, ""); !errors.As(err, &e) ||
		e.Code != platform.CodePostNotFound || f.Fake.Calls() != 1 {
		t.Errorf("got %v after %d calls", err, f.Fake.Calls())
	}
}

// baseOf returns the address of the fake.
func baseOf(t *testing.T, f *platformtest.Fixture) string {
	t.Helper()
	address, err := f.Adapter.Authorization(t.Context(), platform.Authorization{})
	if err != nil {
		t.Fatal(err)
	}
	base, _, _ := strings.Cut(address, "/oauth/")
	return base
}

package linkedin_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/linkedin"
	"github.com/content-automation/api/pkg/adapter/platform/platformtest"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	"github.com/content-automation/api/testdata/platforms/fixture"
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

func described(name string) platform.Media {
	m := fixture.Image(name)
	m.Alt = "A red shoe"
	return m
}

var (
	text = platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "A shoe (new) for @acme_news: 50 * 2",
		Hashtags: []string{"shoes", "run_ning"}, Options: platform.Options{FirstComment: "More at acme.example"}}
	document = platform.Post{Key: "pub_2", Kind: platform.KindCarousel, Title: "Ten shoes", Caption: "Shoes",
		Media:   []platform.Media{fixture.Image("a"), fixture.Image("b")},
		Options: platform.Options{Own: linkedin.Options{Document: true}}}
)

func TestConformance(t *testing.T) {
	fixture.Run(t, platformtest.Suite{
		New: fixtureOf(fake.Member),
		Posts: []platformtest.Named{
			{Name: "text with a comment", Post: text},
			{Name: "photo", Post: platform.Post{Key: "pub_3", Kind: platform.KindPost, Caption: "A shoe",
				Media: []platform.Media{described("c")}, Options: platform.Options{Privacy: platform.Friends}}},
			{Name: "video", Post: platform.Post{Key: "pub_4", Kind: platform.KindVideo, Title: "A shoe",
				Caption: "It runs", Media: []platform.Media{fixture.Video("d", 9000)}}},
			{Name: "images", Post: platform.Post{Key: "pub_5", Kind: platform.KindCarousel, Caption: "Shoes",
				Media: []platform.Media{fixture.Image("e"), described("f")}}},
			{Name: "document", Post: document},
			{Name: "music clip", Post: platform.Post{Key: "pub_6", Kind: platform.KindMusicClip, Caption: "A song",
				Media: []platform.Media{fixture.Video("g", 9000)}}},
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
	if _, err := platformtest.Publish(t.Context(), f, f.Account, text); err != nil {
		t.Fatal(err)
	}
	want := `A shoe \(new\) for \@acme\_news: 50 \* 2` + "\n\n" +
		`{hashtag|\#|shoes} {hashtag|\#|run\_ning}`
	if got := f.Fake.(*fake.Fake).Published()[0].Content; !strings.Contains(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// An application with the Community Management API requests its scopes, and offers organisations.
func TestOrganisationsNeedTheirScopes(t *testing.T) {
	scopes := append([]string{"w_organization_social", "r_organization_social"}, fake.MemberScopes...)
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
	if _, err := platformtest.Publish(t.Context(), f, accounts[0], text); platform.KindOf(err) != platform.Reconnect {
		t.Errorf("got %v, want %s", err, platform.Reconnect)
	}
}

// Comments on posts of members are read with a right that few applications have.
func TestCommentsOnPostsOfMembers(t *testing.T) {
	f := fixtureOf(fake.Member)()
	defer f.Close()
	reader := f.Adapter.(platform.CommentReader)
	post := platform.Published{ID: "urn:li:share:1"}
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

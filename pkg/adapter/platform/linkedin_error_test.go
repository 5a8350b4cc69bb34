package platform_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/linkedin"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	"github.com/content-automation/api/testdata/platforms/control"
	fake "github.com/content-automation/api/testdata/platforms/linkedin"
	"github.com/content-automation/api/testdata/platforms/oauth"
)

// Each answer of LinkedIn has its outcome: the post is made once, later or at once, or it ends with LinkedIn's words.
func TestTheAnswersOfLinkedIn(t *testing.T) {
	plain := platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "A shoe"}
	photo := platform.Post{Key: "pub_2", Kind: platform.KindPost, Caption: "A shoe",
		Media: []platform.Media{fixture.Image("a")}}
	video := platform.Post{Key: "pub_3", Kind: platform.KindVideo, Caption: "It runs",
		Media: []platform.Media{fixture.Video("b", 9000)}}
	refused, barred, later := fixture.Refused, fixture.Barred, fixture.Later
	content := func(words string) fixture.Ending { return refused(platform.CodeContentRefused, words) }
	revoked := fixture.Ended("").OfRefresh()
	outcomes := map[string]fixture.Ending{
		"duplicate":          content("Content is a duplicate of urn:li:share:7141138937766391808"),
		"too long":           content("The commentary is too long"),
		"too long, 400":      content("commentary exceeds the limit"),
		"invalid value":      content("Field has an invalid value"),
		"invalid URN":        content("not a valid URN"),
		"missing scope":      barred("Not enough permissions to access: posts.CREATE"),
		"access denied":      barred("The member has no access"),
		"another author":     barred("[/author]"),
		"another field":      content("[/reshareContext/parent]"),
		"hidden post":        content("Not enough permissions to access urn:li:ugcPost"),
		"something new":      content("seventh house"),
		"file failed":        refused(platform.CodeMediaRefused, "could not be processed"),
		"file waits":         later(platform.Retry, 15*time.Second, "waits for its upload"),
		"unauthorized":       later(platform.Expired, 0, "expired"),
		"revoked":            later(platform.Expired, 0, "revoked by the user"),
		"day limit":          later(platform.Quota, 15*time.Hour, "APPLICATION DAY limit"),
		"limit, retry after": later(platform.Retry, 2*time.Minute, "Too many requests"),
		"version":            later(platform.Retry, 0, "not active"),
		"upload: denied":     barred("images.ACTION").Of(photo),
		"upload: invalid":    refused(platform.CodeMediaRefused, "The owner is invalid").Of(photo),
		"upload: outage":     later(platform.Retry, 0, "Internal server error").Of(photo),
		"upload: new":        later(platform.Retry, 20*time.Second, "The asset is busy.").Of(photo),
		"upload: expired":    fixture.Ending{}.Of(photo),
		"upload: gone":       fixture.Ending{}.Of(photo),
		"video: failed":      refused(platform.CodeMediaRefused, "The codec is not supported.").Of(video),
		"video: no reason":   fixture.Ending{}.Of(video),
		"video: always fails": {Post: video, Always: true, Kind: platform.BadContent, Code: platform.CodeMediaRefused,
			Cause: "linkedin: processing failed without a reason"},
		"video: hidden":      fixture.Ending{}.Of(video),
		"video: gone":        fixture.Ending{}.Of(video),
		"token: revoked":     revoked,
		"token: grant":       revoked,
		"token: our form":    later(platform.Retry, 0, "is missing").OfRefresh(),
		"token: application": later(platform.Retry, 0, "Client authentication failed").OfRefresh(),
	}
	fixture.Endings(t, fixtureOf(fake.Organization), plain, fake.Answers, fixture.WithRefreshes(outcomes))
	t.Run("of a member", func(t *testing.T) {
		// Nobody reads the posts of a member. A plain refusal is final nevertheless, and an unknown one is in doubt.
		fixture.Endings(t, fixtureOf(fake.Member), plain, map[string]control.Answer{
			"duplicate": fake.Answers["duplicate"], "too long": fake.Answers["too long"],
			"hidden post": fake.Answers["hidden post"], "something new": fake.Answers["something new"],
		}, map[string]fixture.Ending{
			"duplicate":   content("urn:li:share:7141138937766391808"),
			"too long":    content("The commentary is too long"),
			"hidden post": content("urn:li:ugcPost:7141138937766391808"),
			"something new": {Kind: platform.Unknown, Code: platform.CodeOutcomeUnknown,
				Words: "The moon is in the seventh house."},
		})
	})
}

// A refused duplicate names the earlier post. If that is younger than the publication, an earlier attempt has made it,
// and it is the post; else the message of the refusal names it.
func TestADuplicateNamesThePost(t *testing.T) {
	post := platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "A shoe"}
	f := fixtureOf(fake.Member)()
	defer f.Close()
	first, err := platformtest.Publish(t.Context(), f, f.Account, post)
	if err != nil {
		t.Fatal(err)
	}
	f.Advance(time.Hour)
	_, err = platformtest.Publish(t.Context(), f, f.Account, post)
	if platform.CodeOf(err) != platform.CodeContentRefused || len(f.Fake.Posts()) != 1 {
		t.Fatalf("%v with %q", err, f.Fake.Posts())
	}
	e := err.(*platform.Error)
	if !strings.Contains(e.Message, first.Post.ID) || !strings.Contains(e.Words, first.Post.ID) {
		t.Errorf("%q, %q do not name %s", e.Message, e.Words, first.Post.ID)
	}
	// Two attempts of one publication.
	g := fixtureOf(fake.Member)()
	defer g.Close()
	step, err := g.Adapter.Start(t.Context(), g.Account, post)
	if err != nil {
		t.Fatal(err)
	}
	g.Fake.Fail(g.Fake.Calls()+1, platformtest.AnswerLost)
	_, err = g.Adapter.Finalize(t.Context(), g.Account, post, step.Handle)
	if platform.KindOf(err) != platform.Unknown {
		t.Fatalf("%v, want %s", err, platform.Unknown)
	}
	g.Advance(5 * time.Second)
	again, err := g.Adapter.Finalize(t.Context(), g.Account, post, step.Handle)
	if posts := g.Fake.(*fake.Fake).Published(); err != nil || len(posts) != 1 || again.Post.ID != posts[0].ID {
		t.Errorf("%+v, %v with %+v", again, err, posts)
	}
}

// A refused publication can be corrected and sent again.
func TestACorrectedPostIsSentAgain(t *testing.T) {
	f := fixtureOf(fake.Member)()
	defer f.Close()
	post := platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: strings.Repeat("я", 3001)}
	keep := func(context.Context, platform.Progress) error { return nil }
	p := platform.Progress{}
	var err error
	for n := 0; n < 5 && err == nil; n++ {
		p, _, err = platform.Next(t.Context(), f.Adapter, f.Account, post, p, f.Now(), keep)
	}
	if platform.CodeOf(err) != platform.CodeContentRefused || platform.KindOf(err) != platform.BadContent {
		t.Fatalf("%v, want %s", err, platform.CodeContentRefused)
	}
	p, post.Caption = p.Retry(), strings.Repeat("я", 3000)
	for err = nil; err == nil && !p.Done(); {
		p, _, err = platform.Next(t.Context(), f.Adapter, f.Account, post, p, f.Now(), keep)
	}
	if posts := f.Fake.Posts(); err != nil || len(posts) != 1 || p.Post.ID == "" {
		t.Errorf("%+v, %v with %d posts", p, err, len(posts))
	}
}

// Each organisation whose role may post is offered, from all pages, and few calls read the names.
func TestManyOrganisations(t *testing.T) {
	scopes := append([]string{"w_organization_social", "rw_organization_admin"}, fake.MemberScopes...)
	open := func() (*platformtest.Fixture, *fake.Fake) {
		f := fixtureOf(fake.Member)()
		of := f.Fake.(*fake.Fake)
		of.OAuth.Scopes = scopes
		f.Adapter = linkedin.New(wire.Config{HTTP: f.HTTP, BaseURL: baseOf(t, f), Now: f.Now,
			App: func(context.Context) (platform.App, error) {
				return platform.App{ID: oauth.ClientID, Secret: oauth.ClientSecret,
					Scopes: strings.Join(scopes, " ")}, nil
			}})
		return f, of
	}
	connect := func(f *platformtest.Fixture, choice string) []platform.Account {
		t.Helper()
		grant, err := fixture.OAuthGrant(f)
		if err != nil {
			t.Fatal(err)
		}
		grant.Choice = choice
		accounts, err := f.Adapter.Connect(t.Context(), grant)
		if err != nil {
			t.Fatal(err)
		}
		return accounts
	}
	f, of := open()
	defer f.Close()
	of.Roles = nil
	posting := []string{"ADMINISTRATOR", "CONTENT_ADMINISTRATOR", "CONTENT_ADMIN", "DIRECT_SPONSORED_CONTENT_POSTER",
		"RECRUITING_POSTER"}
	for n := range 250 {
		urn := fmt.Sprintf("urn:li:organization:%d", 9_000_000+n)
		of.Roles = append(of.Roles, fake.Role{URN: urn, Role: posting[n%5], State: "APPROVED"})
	}
	of.Roles = append(of.Roles, of.Roles[0], // twice, with another role
		fake.Role{URN: "urn:li:organization:1", Role: "ANALYST", State: "APPROVED"},
		fake.Role{URN: "urn:li:organization:2", Role: "ADMINISTRATOR", State: "REQUESTED"})
	before := f.Fake.Calls()
	accounts := connect(f, "")
	if len(accounts) != 251 || accounts[250].ID != "urn:li:organization:9000249" ||
		accounts[250].Name != "Shoes 9000249" || accounts[250].Handle != "shoes-9000249" {
		t.Errorf("%d accounts, the last %+v", len(accounts), accounts[len(accounts)-1])
	}
	if calls := f.Fake.Calls() - before; calls > 12 {
		t.Errorf("%d calls", calls)
	}
	if chosen := connect(f, "urn:li:organization:9000201"); len(chosen) != 1 || chosen[0].Name != "Shoes 9000201" {
		t.Errorf("chosen %+v", chosen)
	}
	// A name that LinkedIn does not show.
	of.Nameless = []string{"9000001"}
	accounts = connect(f, "")
	if i := slices.IndexFunc(accounts, func(a platform.Account) bool { return a.ID == "urn:li:organization:9000001" }); i < 0 ||
		accounts[i].Name == "" {
		t.Errorf("%d accounts", len(accounts))
	}
	// Without the right to list roles, the member is connected.
	g, of := open()
	defer g.Close()
	of.Say(control.Answer{Call: fake.RoleCalls, Status: 403,
		Body: `{"status":403,"code":"ACCESS_DENIED","message":"Not enough permissions to access: organizationAcls"}`})
	if accounts := connect(g, ""); len(accounts) != 1 || accounts[0].ID != fake.Member {
		t.Errorf("%+v", accounts)
	}
}

// A figure without a right is unknown. Others are read, and no account ends.
func TestFiguresWithoutARight(t *testing.T) {
	post := platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "A shoe"}
	for name, c := range map[string]struct {
		account string
		scopes  []string // of the account, as LinkedIn lists them
		extra   []string // that LinkedIn knows
		want    []string // nil: a missing right
	}{
		"the usual scopes":     {fake.Member, fake.MemberScopes, nil, nil},
		"scopes not listed":    {fake.Member, nil, nil, nil},
		"withdrawn":            {fake.Member, []string{"w_member_social", "r_member_social"}, nil, nil},
		"the right to actions": {fake.Member, []string{"w_member_social", "r_member_social"}, []string{"r_member_social"}, linkedinUsual},
		"the newer name": {fake.Member, []string{"w_member_social", "r_member_social_feed"},
			[]string{"r_member_social_feed"}, linkedinUsual},
		"the right to statistics": {fake.Member, []string{"w_member_social", "r_member_postAnalytics"},
			[]string{"r_member_postAnalytics"}, []string{"impressions", "reach", "likes", "comments", "shares"}},
		"an organisation, to publish only": {fake.Organization, []string{"w_organization_social"},
			[]string{"w_organization_social"}, nil},
		"an organisation, its statistics": {fake.Organization, []string{"w_organization_social", "rw_organization_admin"},
			[]string{"w_organization_social", "rw_organization_admin"},
			[]string{"impressions", "reach", "likes", "comments", "shares", "clicks"}},
	} {
		f := fixtureOf(c.account)()
		f.Account.Token.Scopes = c.scopes
		done, err := platformtest.Publish(t.Context(), f, f.Account, post)
		if err != nil {
			t.Fatal(err)
		}
		f.Fake.(*fake.Fake).Extra = c.extra
		m, err := f.Adapter.Metrics(t.Context(), f.Account, done.Post)
		if got := m.Names(); !slices.Equal(got, c.want) || (err != nil) != (c.want == nil) ||
			err != nil && (!platform.Denied(err) || platform.KindOf(err) == platform.Reconnect) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, c.want)
		}
		f.Close()
	}
}

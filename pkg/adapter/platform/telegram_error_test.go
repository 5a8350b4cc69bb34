package platform_test

import (
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/testdata/platforms/control"
	fake "github.com/content-automation/api/testdata/platforms/telegram"
)

func TestAnswersOnTelegram(t *testing.T) {
	text := platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "Hello"}
	photo := platform.Post{Key: "pub_2", Kind: platform.KindPost, Media: []platform.Media{fixture.Image("a")}}
	right := func(words string) fixture.Outcome {
		return fixture.Final(text, platform.Reconnect, platform.CodeMissingPermission, words)
	}
	ended := func(words string) fixture.Outcome {
		return fixture.Final(text, platform.Reconnect, platform.CodeNeedsReconnect, words)
	}
	refused := func(post platform.Post, code platform.Code, words string) fixture.Outcome {
		return fixture.Final(post, platform.BadContent, code, words)
	}
	lost := func(words string) fixture.Outcome {
		return fixture.Final(text, platform.Unknown, platform.CodeOutcomeUnknown, words)
	}
	content, media := platform.CodeContentRefused, platform.CodeMediaRefused
	fixture.Answers(t, newTelegramFixture, fake.Answers, map[string]fixture.Outcome{
		"429 with a time":          fixture.Again(text, platform.Retry, platform.CodeRateLimited, 35*time.Second),
		"429 with a time in words": fixture.Again(text, platform.Retry, platform.CodeRateLimited, 7*time.Second),
		"500":                      lost(""), "502": lost(""),
		"401": ended("Unauthorized"), "404": ended("Not Found"), "400 logged out": ended("Logged out"),
		"400 migrated":                  fixture.Silent(text, ""),
		"400 chat not found":            right("chat not found"),
		"400 need administrator rights": right("need administrator rights in the channel chat"),
		"400 not enough rights":         right("not enough rights to send text messages"),
		"400 no rights to send":         right("have no rights to send a message"),
		"400 no write access":           right("have no write access to the chat"),
		"400 CHAT_ADMIN_REQUIRED":       right("CHAT_ADMIN_REQUIRED"),
		"400 CHAT_WRITE_FORBIDDEN":      right("CHAT_WRITE_FORBIDDEN"),
		"400 CHANNEL_PRIVATE":           right("CHANNEL_PRIVATE"),
		"400 CHAT_SEND_PLAIN_FORBIDDEN": right("CHAT_SEND_PLAIN_FORBIDDEN"),
		"400 deactivated":               right("group chat was deactivated"),
		"400 kicked":                    right("bot was kicked"),
		"403 kicked":                    right("bot was kicked"),
		"403 no member":                 right("bot is not a member"),
		"403 deactivated":               right("user is deactivated"),
		"400 no chat_id":                refused(text, content, "chat_id is empty"),
		"400 entities":                  refused(text, content, "can't parse entities"),
		"400 too long":                  refused(text, content, "message is too long"),
		"400 dimensions":                refused(photo, media, "PHOTO_INVALID_DIMENSIONS"),
		"413":                           refused(photo, media, "Request Entity Too Large"),
		"400 group send failed":         lost("group send failed"),
		"409":                           lost("something else"),
	})
}

// The right to post is lost whatever the status. That to change or delete one message, or to read figures, is not it.
func TestARightThatIsLost(t *testing.T) {
	f := newTelegramFixture()
	defer f.Close()
	post := platform.Post{Key: "pub_1", Kind: platform.KindPost, Caption: "Hello"}
	done := publish(t, f, f.Account, post)
	f.Fake.(*fake.Fake).Demote()
	placed := platform.PlacedPost{PublishedPost: done.Post, Parts: 1}
	for name, err := range map[string]error{
		"change":   f.Adapter.(platform.Editor).Edit(t.Context(), f.Account, placed, "x"),
		"deletion": f.Adapter.(platform.Deleter).Delete(t.Context(), f.Account, placed),
	} {
		if platform.KindOf(err) != platform.BadContent {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := f.Adapter.(platform.AccountReader).Days(t.Context(), f.Account, f.Now()); err != nil {
		t.Errorf("figures: %v", err)
	}
	step, err := f.Adapter.Start(t.Context(), f.Account, post)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Adapter.Finalize(t.Context(), f.Account, post, step.Handle)
	var e *platform.Error
	if !errors.As(err, &e) || e.Kind != platform.Reconnect || e.Code != platform.CodeMissingPermission ||
		!strings.Contains(e.Words, "need administrator rights") {
		t.Errorf("post: %v", err)
	}
	_, err = f.Adapter.Connect(t.Context(), platform.Grant{Token: fake.Token, Choice: fake.Channel})
	if platform.KindOf(err) != platform.Reconnect {
		t.Errorf("connect: %v", err)
	}
}

// Refusals of single calls leave the account.
func TestOtherRefusalsLeaveTheAccountOnTelegram(t *testing.T) {
	placed := platform.PlacedPost{PublishedPost: platform.PublishedPost{ID: "8"}, Parts: 1}
	for _, c := range []struct {
		code int
		said string
		want platform.Code
	}{
		{403, "Forbidden: MESSAGE_DELETE_FORBIDDEN", platform.CodeMissingPermission},
		{400, "Bad Request: CHAT_ADMIN_REQUIRED", platform.CodeMissingPermission},
		{400, "Bad Request: message can't be edited", platform.CodeContentRefused},
		{400, "Bad Request: message to edit not found", platform.CodePostNotFound},
		{400, "Bad Request: MESSAGE_ID_INVALID", platform.CodePostNotFound},
		{409, "Conflict: terminated by other getUpdates request", platform.CodeUnsupported},
	} {
		f := newTelegramFixture()
		f.Fake.(fixture.Fake).Say(control.Answer{Call: regexp.MustCompile("/(edit|delete|getUpdates)"), Times: -1,
			Status: c.code, Body: `{"ok":false,"error_code":` + strconv.Itoa(c.code) + `,"description":"` + c.said + `"}`})
		_, read := f.Adapter.Metrics(t.Context(), f.Account, placed.PublishedPost)
		for _, err := range []error{read, f.Adapter.(platform.Editor).Edit(t.Context(), f.Account, placed, "x"),
			f.Adapter.(platform.Deleter).Delete(t.Context(), f.Account, placed)} {
			var e *platform.Error
			if !errors.As(err, &e) || e.Kind != platform.BadContent || e.Code != c.want || e.Words != c.said {
				t.Errorf("%s: %v, want %s", c.said, err, c.want)
			}
		}
		f.Close()
	}
}

// A group that has become a supergroup is followed by readings, too.
func TestTheMembersOfAGroupThatHasMoved(t *testing.T) {
	f := newTelegramFixture()
	defer f.Close()
	days, err := f.Adapter.(platform.AccountReader).Days(t.Context(), account(fake.Group), f.Now())
	if err != nil || len(days) != 1 || *days[0].Followers != 1500 {
		t.Errorf("%+v, %v", days, err)
	}
}

// The double counts what the reader sees, as the Bot API does.
func TestTheDoubleCountsWhatTheReaderSees(t *testing.T) {
	send := func(f fixture.Fake, text string) string {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://platform.test/bot"+fake.Token+"/sendMessage",
			strings.NewReader(`{"chat_id":"@acme_news","parse_mode":"HTML","text":`+strconv.Quote(text)+`}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		answer, err := control.Doer{Handler: f.Handler()}.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		var b strings.Builder
		if err := answer.Write(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	link := `<a href="https://acme.example/` + strings.Repeat("x", 200) + `">`
	for text, want := range map[string]string{
		strings.Repeat("a", 4000) + link + strings.Repeat("b", 96) + "</a>": `"ok":true`,
		strings.Repeat("a", 4000) + link + strings.Repeat("b", 97) + "</a>": "message is too long",
		strings.Repeat("a", 4095) + "&amp;":                                 "\"ok\":true",
		strings.Repeat("👟", 2048):                                           `"ok":true`,
		strings.Repeat("👟", 2048) + "a":                                     "message is too long",
		"<b> </b>":                                                          "message text is empty",
		"<b>a":                                                              "Can't find end tag",
		"<b>a</i>":                                                          "Unmatched end tag",
		"5 < 6":                                                             "Unsupported start tag",
		`<span class="tg-spoiler">a</span>`:                                 `"ok":true`, `<span>a</span>`: "Unsupported start tag",
		`<tg-spoiler>a</tg-spoiler>`: `"ok":true`,
	} {
		f := newTelegramFixture()
		if got := send(f.Fake.(fixture.Fake), text); !strings.Contains(got, want) {
			t.Errorf("%.60s: %s, want %s", text, got, want)
		}
		f.Close()
	}
}

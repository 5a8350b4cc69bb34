package fakes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/testdata/fakes/crms"
	"github.com/content-automation/api/testdata/platforms/bluesky"
	"github.com/content-automation/api/testdata/platforms/control"
	"github.com/content-automation/api/testdata/platforms/facebook"
	"github.com/content-automation/api/testdata/platforms/instagram"
	"github.com/content-automation/api/testdata/platforms/linkedin"
	"github.com/content-automation/api/testdata/platforms/oauth"
	"github.com/content-automation/api/testdata/platforms/pinterest"
	"github.com/content-automation/api/testdata/platforms/rutube"
	"github.com/content-automation/api/testdata/platforms/telegram"
	"github.com/content-automation/api/testdata/platforms/threads"
	"github.com/content-automation/api/testdata/platforms/tiktok"
	"github.com/content-automation/api/testdata/platforms/vk"
	"github.com/content-automation/api/testdata/platforms/x"
	"github.com/content-automation/api/testdata/platforms/youtube"
)

// fake is a fake with its API and its posts.
type fake interface {
	control.Fake
	Handler() http.Handler
	Published() []control.Post
	Say(a control.Answer)
}

// commented is a fake with comments.
type commented interface {
	AddComment(c control.Comment) control.Comment
	CommentsOn(post string) []control.Comment
}

// Platforms serves the fakes of all platforms, each below its name, such as /vk. GET /_posts lists the visible posts.
// POST /_fail?platform=vk&fault=answer+lost gives the next call of a platform a fault; with &call=3, it is the third
// call. POST /_answer?platform=vk&call=wall.post&status=200&times=1 gives the next call whose method and path match the
// pattern call the body as its answer; times=-1 stands for always, and header=Retry-After:+60 adds a header.
// POST /_comment?platform=vk&post=178&text=Hi adds a comment of a reader to a post, and with &parent= a reply to a
// comment; GET /_comments?platform=vk&post=178 lists the comments. The fakes of the CRMs are served beside them: see
// crms.Serve. took is the time for which a platform processes a video.
func Platforms(now func() time.Time, took time.Duration) http.Handler {
	instagramFake, tiktokFake, youtubeFake, rutubeFake := instagram.New(now), tiktok.New(now), youtube.New(now),
		rutube.New(now)
	youtubeFake.Took = took
	instagramFake.Took, tiktokFake.Took, tiktokFake.Moderated, rutubeFake.Took = took, took, 2*took, took
	blueskyFake, facebookFake, threadsFake := bluesky.New(now), facebook.New(now), threads.New(now)
	linkedinFake, pinterestFake, xFake := linkedin.New(now), pinterest.New(now), x.New(now)
	blueskyFake.Took, facebookFake.Took, threadsFake.Took = took, took, took
	linkedinFake.Took, pinterestFake.Took, xFake.Took = took, took, took
	fakes := map[string]fake{
		"bluesky": blueskyFake, "facebook": facebookFake, "threads": threadsFake, "linkedin": linkedinFake,
		"pinterest": pinterestFake, "x": xFake,
		"instagram": instagramFake, "tiktok": tiktokFake, "youtube": youtubeFake,
		"telegram": telegram.New(now), "vk": vk.New(now), "rutube": rutubeFake,
	}
	mux := http.NewServeMux()
	for name, f := range fakes {
		mux.Handle("/"+name+"/", http.StripPrefix("/"+name, f.Handler()))
	}
	crms.Serve(mux, now)
	mux.HandleFunc("GET /_posts", func(w http.ResponseWriter, _ *http.Request) {
		posts := map[string][]control.Post{}
		for name, f := range fakes {
			posts[name] = f.Published()
		}
		control.JSON(w, http.StatusOK, posts)
	})
	mux.HandleFunc("POST /_comment", func(w http.ResponseWriter, r *http.Request) {
		f, ok := fakes[r.FormValue("platform")].(commented)
		if !ok || r.FormValue("post") == "" || r.FormValue("text") == "" {
			http.Error(w, "want a platform with comments, the id of a post and a text", http.StatusBadRequest)
			return
		}
		control.JSON(w, http.StatusCreated, f.AddComment(control.Comment{Post: r.FormValue("post"),
			Parent: r.FormValue("parent"), Text: r.FormValue("text")}))
	})
	mux.HandleFunc("GET /_comments", func(w http.ResponseWriter, r *http.Request) {
		f, ok := fakes[r.FormValue("platform")].(commented)
		if !ok {
			http.Error(w, "want a platform with comments", http.StatusBadRequest)
			return
		}
		control.JSON(w, http.StatusOK, append([]control.Comment{}, f.CommentsOn(r.FormValue("post"))...))
	})
	mux.HandleFunc("POST /_fail", func(w http.ResponseWriter, r *http.Request) {
		f, ok := fakes[r.FormValue("platform")]
		fault := control.Fault(r.FormValue("fault"))
		call, err := strconv.Atoi(r.FormValue("call"))
		if r.FormValue("call") == "" {
			call, err = 1, nil
		}
		if !ok || err != nil || call < 1 || !slices.Contains(control.Faults(), fault) {
			http.Error(w, "want a platform, a fault and a call from 1", http.StatusBadRequest)
			return
		}
		f.Fail(f.Calls()+call, fault)
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("POST /_answer", func(w http.ResponseWriter, r *http.Request) {
		f, ok := fakes[r.URL.Query().Get("platform")]
		a, err := answerOf(r)
		if !ok || err != nil {
			http.Error(w, "want a platform, a pattern for the call and a status from 200", http.StatusBadRequest)
			return
		}
		f.Say(a)
		w.WriteHeader(http.StatusNoContent)
	})
	return mux
}

// mostAnswer bounds the body of an answer that a call gives.
const mostAnswer = 1 << 20

// answerOf reads the answer that a call describes.
func answerOf(r *http.Request) (a control.Answer, err error) {
	q := r.URL.Query()
	if a.Status, err = strconv.Atoi(q.Get("status")); err != nil || a.Status < 200 || a.Status > 599 {
		return a, fmt.Errorf("the status %q is none", q.Get("status"))
	}
	if q.Has("times") {
		if a.Times, err = strconv.Atoi(q.Get("times")); err != nil {
			return a, err
		}
	}
	if q.Get("call") == "" {
		return a, errors.New("there is no pattern for the call")
	}
	if a.Call, err = regexp.Compile(q.Get("call")); err != nil {
		return a, err
	}
	a.Header = http.Header{}
	for _, line := range q["header"] {
		name, value, _ := strings.Cut(line, ":")
		a.Header.Add(name, strings.TrimSpace(value))
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, mostAnswer))
	a.Body = string(body)
	return a, err
}

// Apps returns the applications that the fakes of the platforms know, in the form of the stacks' secret.
func Apps() (string, error) {
	document := map[string]map[string]string{}
	for _, name := range []string{"facebook", "instagram", "linkedin", "pinterest", "threads", "tiktok", "vk", "x",
		"youtube", "amocrm", "bitrix24", "hubspot"} {
		document[name] = map[string]string{"client_id": oauth.ClientID, "client_secret": oauth.ClientSecret,
			"hook_token": oauth.HookToken}
	}
	delete(document["vk"], "client_secret") // applications of VK ID prove themselves by PKCE
	value, err := json.Marshal(document)
	return string(value), err
}

package console

import (
	"bytes"
	"html"
	"image"
	"image/color"
	"image/png"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/poll"
	"github.com/content-automation/api/testdata/platforms/telegram"
)

// picture returns a PNG of noise, which has some three bytes a pixel.
func picture(t *testing.T, width int) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, width, width))
	for i := range width * width {
		n := rand.Uint32() //nolint:gosec // pixels
		img.Set(i%width, i/width, color.RGBA{byte(n), byte(n >> 8), byte(n >> 16), 255})
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// upload sends a form with a file, as a browser without scripts does.
func (b *browser) upload(path string, file []byte, fields url.Values) page {
	b.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name := range fields {
		_ = form.WriteField(name, fields.Get(name))
	}
	part, err := form.CreateFormFile("logo", "logo.png")
	if err == nil {
		_, err = part.Write(file)
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return b.follow(b.send(http.MethodPost, path, nil, func(r *http.Request) {
		r.Header.Set("Content-Type", form.FormDataContentType())
		r.Body, r.ContentLength, r.GetBody = io.NopCloser(&body), int64(body.Len()), nil
	}))
}

var logoOf = regexp.MustCompile(`src="(/settings/profiles/[^"]+/logo\?[^"]+)"`)

// The logo of a client is a file of a form. It is brought in as a caller of the API does, and shown on the pages for
// the client. What is no picture, or too large, is refused with the reason, and changes nothing.
func TestALogoIsUploaded(t *testing.T) {
	s := start(t)
	b := s.signedIn(t, "admin")
	id := s.must(t, "POST", "/v1/profiles", object{"name": "Harbour Coffee"}, 201)["id"].(string)
	path := "/settings/profiles/" + id
	version := func() string {
		return strconv.Itoa(int(s.must(t, "GET", "/v1/profiles/"+id, nil, 200)["version"].(float64)))
	}
	with := func(more ...string) url.Values {
		q := b.withToken(url.Values{"version": {version()}})
		for i := 0; i+1 < len(more); i += 2 {
			q.Set(more[i], more[i+1])
		}
		return q
	}
	small := picture(t, 100)
	for text, file := range map[string][]byte{"Choose a picture.": nil, "The picture has 118 KB": picture(t, 200),
		"The file is no PNG": []byte("<svg xmlns='http://www.w3.org/2000/svg'/>"),
		"cannot be read":     append([]byte("\x89PNG\x0D\x0A\x1A\x0A"), small[8:200]...)} {
		p := b.upload(path+"/logo", file, with())
		if p.shows(t, text); p.status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", text, p.status)
		}
	}
	if p := b.upload(path+"/logo", picture(t, 1400), with()); p.status != http.StatusRequestEntityTooLarge {
		t.Errorf("a large file: %d", p.status)
	}
	if p := b.upload(path+"/logo", small, url.Values{"version": {version()}}); p.status != http.StatusForbidden {
		t.Errorf("without the token of the session: %d", p.status)
	}
	if logo := s.must(t, "GET", "/v1/profiles/"+id, nil, 200)["logo"]; logo != nil {
		t.Errorf("the logo is %v", logo)
	}
	p := b.upload(path+"/logo", small, with())
	p.shows(t, "The logo is changed.", "Remove the logo")
	shown := logoOf.FindStringSubmatch(p.body)
	if shown == nil {
		t.Fatalf("the page shows no logo: %s", p.main())
	}
	file := b.send(http.MethodGet, strings.ReplaceAll(shown[1], "&amp;", "&"), nil)
	if file.header.Get("Content-Type") != "image/png" || !strings.HasPrefix(file.body, "\x89PNG") ||
		!strings.Contains(file.header.Get("Cache-Control"), "private") {
		t.Errorf("the logo is %d %v", file.status, file.header)
	}
	b.get(path+"/connect-page?platform=tiktok").shows(t, "data:image/png;base64,", "This is a preview",
		"<bdi>Harbour Coffee</bdi>", "Continue to TikTok")
	b.get(path+"/connect-page?platform=tiktok&lang=ar").shows(t, `dir="rtl"`, "هذه معاينة")
	if p := b.get(path + "/connect-page?platform=telegram"); p.status != http.StatusNotFound {
		t.Errorf("a platform without the page: %d", p.status)
	}
	b.upload(path+"/logo", nil, with("remove", "1")).shows(t, "The logo is removed.")
	if logo := s.must(t, "GET", "/v1/profiles/"+id, nil, 200)["logo"]; logo != nil {
		t.Errorf("the logo is %v after its removal", logo)
	}
	if p := s.signedIn(t, "auditor").upload(path+"/logo", small, with()); p.status != http.StatusForbidden {
		t.Errorf("an auditor: %d", p.status)
	}
}

// The page of a client has its accounts, its next posts, what it has spent and its review links.
func TestThePageOfAClient(t *testing.T) {
	s := start(t)
	a := s.agency(t)
	s.must(t, "PATCH", "/v1/profiles/"+a.profile, object{"spend_limit_credits": 5000}, 200)
	account := s.must(t, "POST", "/v1/social/accounts", object{"platform": "telegram", "bot_token": telegram.Token,
		"channel": telegram.Channel, "profile_id": a.profile}, 201)
	s.must(t, "POST", "/v1/content-items/"+a.item+"/schedule", object{"social_account_ids": []any{account["id"]},
		"publish_at": s.clock.now().UTC().AddDate(0, 0, 2)}, 200)
	s.must(t, "POST", "/v1/review-links", object{"factory_id": a.factory, "name": "For the harbour", "may": "decide"}, 201)
	s.must(t, "POST", "/v1/profiles", object{"name": "Another client"}, 201)
	path := "/settings/profiles/" + a.profile
	b := s.signedIn(t, "admin")
	b.get(path).shows(t, account["handle"].(string), "connected", "A new roast", "to approve", "For the harbour",
		"5\u00a0000", "/settings/review-links/new?factory_id="+a.factory, path+"/connect-page",
		`href="/settings/content-items/`+a.item+`"`, `enctype="multipart/form-data"`)
	b.get("/settings/review-links/new?factory_id="+a.factory).shows(t, `value="`+a.factory+`" selected`)
	p := s.signedIn(t, "auditor").get(path)
	p.shows(t, "For the harbour")
	p.hides(t, `enctype="multipart/form-data"`, "Create a review link")
}

// An owner starts an export of the account or of a client, sees that it goes on, and fetches its files.
func TestAnOwnerExports(t *testing.T) {
	s := start(t)
	a := s.agency(t)
	b := s.signedIn(t, "owner")
	b.get("/settings").shows(t, `href="/settings/exports"`)
	for profile, named := range map[string]string{"": "The whole account", a.profile: "Harbour Coffee"} {
		p := b.post("/settings/exports", url.Values{"once": {"export-" + profile}, "profile_id": {profile}})
		p.shows(t, "The export has begun.", named)
		at := strings.TrimSuffix(strings.TrimPrefix(p.at, s.BaseURL), "?done=created")
		poll.Until(t, "the export is ready", func() bool {
			p = b.get(at)
			return strings.Contains(p.main(), ">ready<")
		})
		link := regexp.MustCompile(`href="([^"]+)" rel="noreferrer">Part 1<`).FindStringSubmatch(p.body)
		if link == nil {
			t.Fatalf("there is no part: %s", p.main())
		}
		if file := b.send(http.MethodGet, html.UnescapeString(link[1]), nil); file.status != http.StatusOK ||
			file.body == "" {
			t.Errorf("the part: %d", file.status)
		}
		b.get("/settings/exports").shows(t, named, ">ready<")
	}
}

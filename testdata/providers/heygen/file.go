package heygen

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"

	"github.com/content-automation/api/testdata/providers/control"
)

// sign returns the address of a file, which is valid for a while.
func (f *fake) sign(r *http.Request, name string) string {
	expires := strconv.FormatInt(f.Now().Add(AddressTime).Unix(), 10)
	return control.Base(r) + "/files/" + name + "?" + url.Values{"Expires": {expires},
		"Signature": {f.signature(name, expires)}}.Encode()
}

func (f *fake) signature(name, expires string) string {
	mac := hmac.New(sha256.New, f.secret)
	fmt.Fprintf(mac, "%s\n%s", name, expires)
	return hex.EncodeToString(mac.Sum(nil))
}

// file serves GET /files/{name}.
func (f *fake) file(w http.ResponseWriter, r *http.Request) {
	name, q := r.PathValue("name"), r.URL.Query()
	expires, err := strconv.ParseInt(q.Get("Expires"), 10, 64)
	if err != nil || !hmac.Equal([]byte(q.Get("Signature")), []byte(f.signature(name, q.Get("Expires")))) ||
		f.Now().Unix() >= expires {
		http.Error(w, "AccessDenied", http.StatusForbidden)
		return
	}
	content, err := fs.ReadFile(f.Media, name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "video/mp4")
	_, _ = w.Write(content) // the caller may have gone
}

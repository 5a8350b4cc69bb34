package fuzz

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// raw is a text that is written into a body unchanged, whether it is JSON or not.
type raw string

// twice is an object that has a member twice.
type twice struct {
	object
	name string
}

// write writes a value of a body, in a fixed order.
func write(b *bytes.Buffer, v any) {
	switch v := v.(type) {
	case raw:
		b.WriteString(string(v))
	case object:
		write(b, twice{v, ""})
	case twice:
		b.WriteByte('{')
		for i, name := range slices.Sorted(maps.Keys(v.object)) {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(jsonOf(name) + ":")
			write(b, v.object[name])
			if name == v.name {
				b.WriteString("," + jsonOf(name) + ":")
				write(b, v.object[name])
			}
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			write(b, item)
		}
		b.WriteByte(']')
	default:
		b.WriteString(jsonOf(v))
	}
}

func jsonOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// texts are odd texts, for bodies and for parameters. None of them names a host.
var texts = []string{
	"", " ", "a", "\t\n", "\x00", "a\x1fb", "\x7f", "\u202eabc",
	"\u0645\u0631\u062d\u0628\u0627 \u05e9\u05dc\u05d5\u05dd", "👩‍👩‍👧‍👦", "\u200b", "\ufeffx",
	"e\u0301\u0301\u0301\u0301", "\ufffd",
	"null", "true", "0", "-1", "1", "1.5", "1e400", "NaN", "Infinity", "0x10", "9223372036854775807",
	"9223372036854775808", "١٢",
	strings.Repeat("x", 65), strings.Repeat("é", 256), strings.Repeat("x", 1025), "fac_" + strings.Repeat("x", 2096),
	strings.Repeat("é", 5001), strings.Repeat("x", 70_000),
	"fac_zzzzzzzzzzzzzzzzzzzzzzzzzz", "fac_00000000000000000000000000", "FAC_01h455vb4pex5vsknk084sn02q",
	"fac_01h455vb4pex5vsknk084sn02q", "cnt_01h455vb4pex5vsknk084sn02q", "fac_", "_", "#", "a#b",
	"fac_01h455vb4pex5vsknk084sn02q#",
	"..", "../../..", "..%2f..%2f", "%00", "%", "%zz", "a/b", "a,b", ",", "a,a", "a b", "<script>", "' OR 1=1 --",
	"{{7*7}}", "${x}", "*", "\\", "\"", "[0]", "a.b", "a.b[0]", "~1",
	"2026-02-30T00:00:00Z", "0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z",
	"99999-01-01T00:00:00Z", "2026-05-01T12:00:00+99:99", "2026-05-01T24:00:00Z", "1969-12-31T23:59:59.999Z",
	"2026-05-01", "2026-13-01", "0000-00-00", "2026-05", "9999-12", "0000-00", "12:00", "25:00",
	"http://127.0.0.1:9/", "http://127.0.0.1:99999/", "http://[::1]:9/", "https://user:pw@127.0.0.1/",
	"http://127.0.0.1:9/" + strings.Repeat("x", 2100), "javascript:alert(1)", "//127.0.0.1", "http:", "http://[",
	"http://127.0.0.1:9/\u202e", "file:///etc/passwd", "arn:aws:sqs:eu-central-1:111122223333:content-events",
	"arn:aws:sqs:::", "arn:aws:events:eu-central-1:111122223333:event-bus/content",
	"en", "zz-ZZ", "de-1901-x-y", "Europe/Berlin", "Mars/Olympus", "../../../etc/passwd", "Local", "0.0.0.0/0",
	"::/129", "10.0.0.0/33", "#ff6600", "EUR", "eur", "content.*", "*.*", "asc", "day,kind,day", "kind",
}

// plain are odd values for each place of a body: values of each type, too large, too many, too deep, and some that
// cannot be compared.
var plain = []any{
	raw("null"), raw("true"), raw("0"), raw("-1"), raw("1"), raw("1.0"), raw("1.5"), raw("1e308"),
	raw("9007199254740993"), raw("9223372036854775807"), raw("9223372036854775808"),
	raw("[]"), raw("[null]"), raw("[[]]"), raw("[{}]"), raw(`[{"a":1}]`), raw("[[],[1]]"), raw("[1,1]"),
	raw(`["a","a"]`), raw(`["",""]`), raw(`[true,"true",1,null,{},[]]`),
	raw("[" + strings.Repeat(`"a",`, 1000) + `"a"]`), raw(nested("[", "]", 900)), raw(nested(`{"a":`, "}", 900)),
	raw("{}"), raw(`{"a":1}`), raw(`{"":1}`), raw(`{"a.b":{"c[0]":1},"c":[]}`), raw(`{"a":null}`),
	raw(`{"type":"brand"}`), raw(`{"kind":{"kind":[]}}`), object{strings.Repeat("k", 2100): "v"},
	"", " ", "a", "\x00", "\u202eabc\u05e9", strings.Repeat("é", 256), "fac_" + strings.Repeat("x", 2096),
	strings.Repeat("x", 70_000), "fac_00000000000000000000000000", "9999-12-31T23:59:59Z", "0000-01-01T00:00:00Z",
	"http://127.0.0.1:9/" + strings.Repeat("x", 2100),
}

// rare are odd values for bodies as a whole, and by chance for each place.
var rare = func() []any {
	all := []any{
		raw("false"), raw("-0"), raw("1e2"), raw("1e-400"), raw("2147483648"), raw("-9223372036854775809"),
		raw("100000000000000000000"), raw("0.1"),
		raw("[[[]],[[]]]"), raw(`[{"a":[]},{"a":[]}]`), raw("[" + strings.Repeat(`{},`, 3000) + `{}]`),
		raw(`{"a/b~c":[{"d":{}}]}`), raw(`{"__proto__":{}}`), raw(`{"\u0000":"\u0000"}`), raw("{" + manyMembers + "}"),
		raw(nested(`[{"a":`, "}]", 60)), object{"k": strings.Repeat("v", 501)},
		// Texts that are not valid JSON, or not valid text.
		raw(`"\ud800"`), raw(`"\udc00\ud800"`), raw("\"\xff\""), raw("\"\xc0\xaf\""), raw("\"\xed\xa0\x80\""),
		raw(`"a`), raw("NaN"), raw("Infinity"), raw("-"), raw("01"), raw("1e400"), raw("+1"), raw("0x1"),
		raw("undefined"), raw("'a'"), raw(""), raw(nested("[", "]", 1001)), raw("\"\n\""), raw("{,}"), raw("[1,]"),
		raw(`{"a":1,"a":2}`), raw("1 2"), raw("/**/1"), raw(`"\x"`), raw(`"\u12"`),
	}
	for _, text := range texts {
		all = append(all, text)
	}
	return all
}()

var manyMembers = func() string {
	var b strings.Builder
	for i := range 5000 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(jsonOf("k"+jsonOf(i)) + `:"v"`)
	}
	return b.String()
}()

func nested(open, end string, n int) string {
	return strings.Repeat(open, n) + "1" + strings.Repeat(end, n)
}

// headers are odd headers.
var headers = []struct{ name, value string }{
	{"Idempotency-Key", ""}, {"Idempotency-Key", " "}, {"Idempotency-Key", "a"}, {"Idempotency-Key", "a"},
	{"Idempotency-Key", strings.Repeat("k", 255)}, {"Idempotency-Key", strings.Repeat("k", 256)},
	{"Idempotency-Key", strings.Repeat("k", 9000)},
	{"Idempotency-Key", "a\x00b"}, {"Idempotency-Key", "ключ"}, {"Idempotency-Key", "\xff"},
	{"Idempotency-Key", "a, b"}, {"Idempotency-Key", "\"a\""},
	{"If-Match", `"1"`}, {"If-Match", `W/"1"`}, {"If-Match", "*"}, {"If-Match", "1"}, {"If-Match", `"`},
	{"If-Match", `"1", "2"`}, {"If-Match", `"1",`}, {"If-Match", ","}, {"If-Match", strings.Repeat(`"1",`, 3000)},
	{"If-Match", "\xff"}, {"If-Match", `"9223372036854775808"`}, {"If-Match", ""},
	{"If-None-Match", `"1"`}, {"If-None-Match", "*"}, {"If-None-Match", `W/"1"`}, {"If-None-Match", ","},
	{"If-None-Match", "\xff"},
	{"Content-Type", "text/plain"}, {"Content-Type", "application/json; charset=utf-16"},
	{"Content-Type", "application/json; charset=UTF-8"}, {"Content-Type", "APPLICATION/JSON"},
	{"Content-Type", "application/merge-patch+json"}, {"Content-Type", "application/json-patch+json"},
	{"Content-Type", ";;;"}, {"Content-Type", "application/x-www-form-urlencoded"},
	{"Content-Type", "multipart/form-data; boundary=x"}, {"Content-Type", ""}, {"Content-Type", "\xff"},
	{"Content-Type", "application/json, text/plain"}, {"Content-Type", strings.Repeat("a", 300) + "/b"},
	{"Content-Type", "application/cbor"}, {"Content-Type", "application/json+x"},
	{"Accept", "text/html"}, {"Accept", "*/*;q=0"}, {"Accept", "application/cbor"}, {"Accept", "\xff"}, {"Accept", ""},
	{"Accept", "application/problem+json"}, {"Accept-Encoding", "gzip, br"}, {"Content-Encoding", "gzip"},
	{"Content-Length", "-1"}, {"Transfer-Encoding", "chunked"}, {"Expect", "100-continue"}, {"Range", "bytes=0-1"},
	{"X-HTTP-Method-Override", "DELETE"}, {"Host", "evil.example:99999"}, {"Host", "\xff"}, {"X-Forwarded-For", "a, b"},
	{"X-Forwarded-Host", "evil.example"}, {"User-Agent", strings.Repeat("u", 9000)}, {"User-Agent", "\x00\xff"},
	{"Accept-Language", "xx"}, {"Origin", "null"}, {"Prefer", "return=minimal"}, {"Upgrade", "websocket"},
	{"Last-Event-ID", "1"},
}

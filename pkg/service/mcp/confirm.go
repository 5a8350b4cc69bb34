package mcp

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// confirmTime is the time for which a confirmation holds.
const confirmTime = 15 * time.Minute

// asks reports whether a call with a live key has to be confirmed first. A confirmation that is not of this call is an
// error.
func (c call) asks(confirmation string) (bool, error) {
	switch {
	case !c.live():
		return false, nil
	case confirmation == "":
		return true, nil
	}
	text, _, _ := strings.Cut(confirmation, ".")
	until, err := strconv.ParseInt(text, 36, 64)
	if err != nil || !hmac.Equal([]byte(c.confirmation(until)), []byte(confirmation)) || c.now().Unix() >= until {
		return false, invalid("confirmation", "The confirmation is not that of this call, or is older than 15 "+
			"minutes. Call again without it, show the answer to the user, and send the confirmation of that answer.")
	}
	return false, nil
}

// confirmation returns the confirmation of the call until a time. It is of the tool, its arguments and the credential,
// by which it is signed: neither a model nor a text that it reads knows that. The call has its effect once with it,
// because its idempotency key follows from the same arguments.
func (c call) confirmation(until int64) string {
	secret := sha256.Sum256([]byte("confirmation of an agent\n" + c.token))
	text := strconv.FormatInt(until, 36)
	sum := hmac.New(sha256.New, secret[:])
	sum.Write([]byte(text + "\n" + c.mode + "\n" + c.base + "\n" + c.key))
	return text + "." + hex.EncodeToString(sum.Sum(nil)[:16])
}

// asked is the answer to a call with a live key that is not confirmed.
func (c call) asked(text string, data any) said {
	return said{text: "Nothing was done yet. " + text + " Show this to the user. Only if the user agrees, repeat the " +
		"call with the same arguments and confirmation: \"" + c.confirmation(c.now().Add(confirmTime).Unix()) + "\"",
		data: data, all: true}
}

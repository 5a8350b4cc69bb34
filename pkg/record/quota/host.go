package quota

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// The most reads of feeds and pages of one host that an account has the service make in a day: of 25 feeds every 15
// minutes, and of five in the sandbox, which is free.
const (
	MostOfHost        = 2400
	MostOfHostSandbox = 480
)

var errHost = errors.New("attempts: the host was read too often today")

// OfHost counts a read of an address of somebody else, and reports whether the account may make it: its host is read so
// often in a day only. All profiles of an account count together.
func OfHost(ctx context.Context, db *store.DB, now time.Time, o tenant.Owner, address string) (bool, error) {
	u, err := url.Parse(address)
	if err != nil {
		return true, nil // it is never called
	}
	most, day := int64(MostOfHost), now.UTC().Format(time.DateOnly)
	if o.Mode == tenant.Test {
		most = MostOfHostSandbox
	}
	sum := sha256.Sum256([]byte(strings.ToLower(u.Hostname())))
	tx := &store.Tx{}
	tx.CountUntil(store.IDKey(fmt.Sprintf("hostreads#%s#%s#%s", o, day, hex.EncodeToString(sum[:12]))), 1, most,
		now.Add(2*24*time.Hour), errHost)
	if err = db.Commit(tenant.Unconfined(ctx), tx); errors.Is(err, errHost) {
		return false, nil
	}
	return err == nil, err
}

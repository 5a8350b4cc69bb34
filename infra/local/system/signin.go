package system

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider/types"

	"github.com/content-automation/api/infra/local/identity"
)

// writeSignInKey writes a new key for the tokens of people into a file, as hexadecimal numbers.
func writeSignInKey(file string) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	text, err := json.Marshal(map[string]string{"n": key.N.Text(16), "e": strconv.FormatInt(int64(key.E), 16),
		"d": key.D.Text(16)})
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

// makeUsers adds identity.Users to the user pool, and sets Password.
func (s *System) makeUsers(ctx context.Context) error {
	pool, password := s.Outputs["UserPoolId"], rand.Text()[:12]
	client := cognitoidentityprovider.NewFromConfig(s.AWS())
	for _, u := range identity.Users() {
		_, err := client.AdminCreateUser(ctx, &cognitoidentityprovider.AdminCreateUserInput{
			UserPoolId: &pool, Username: &u.Email, MessageAction: types.MessageActionTypeSuppress,
			UserAttributes: []types.AttributeType{{Name: aws.String("email"), Value: &u.Email},
				{Name: aws.String("email_verified"), Value: aws.String("true")}, {Name: aws.String("name"), Value: &u.Name}},
		})
		if err == nil {
			_, err = client.AdminSetUserPassword(ctx, &cognitoidentityprovider.AdminSetUserPasswordInput{
				UserPoolId: &pool, Username: &u.Email, Password: &password, Permanent: true})
		}
		if err != nil {
			return fmt.Errorf("adding %s to the user pool: %w", u.Email, err)
		}
	}
	s.Password = password
	return nil
}

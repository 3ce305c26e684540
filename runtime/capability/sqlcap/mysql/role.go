package mysql

import (
	"context"
	"errors"
	"strings"

	"github.com/wasmres/wasmres/abi"
)

// readPrivileges are the privileges that only read.
var readPrivileges = map[string]bool{"USAGE": true, "SELECT": true, "SHOW VIEW": true, "SHOW DATABASES": true,
	"PROCESS": true}

// checkRole checks what the role may do besides reading: a read-only transaction does not prevent access to files.
func (s *session) checkRole(ctx context.Context) error {
	grants, err := s.texts(ctx, "SHOW GRANTS")
	if err != nil {
		return err
	}
	var dangerous, writing bool
	for _, grant := range grants {
		for _, privilege := range privileges(grant) {
			everywhere := strings.Contains(grant, " ON *.* TO ")
			dangerous = dangerous || privilege == "FILE" || privilege == "SUPER" || privilege == "ALL PRIVILEGES" && everywhere
			writing = writing || !readPrivileges[privilege]
		}
	}
	if dangerous && !s.server.cfg.Privileged {
		return abi.Errorf(abi.CodeDenied, "the role of this connection may do more than read").Because(errors.New(
			"it has FILE, SUPER or all privileges: use a role that has only SELECT"))
	}
	if writing {
		s.server.warned.Do(s.server.cfg.WarnOfRole)
	}
	return nil
}

// privileges returns the privileges of a line of SHOW GRANTS, without their columns; none for a line about roles.
func privileges(grant string) (all []string) {
	list, _, isAbout := strings.Cut(strings.TrimPrefix(grant, "GRANT "), " ON ")
	if !isAbout {
		return nil
	}
	depth, from := 0, 0
	add := func(to int) {
		name, _, _ := strings.Cut(list[from:to], "(")
		all = append(all, strings.TrimSpace(name))
		from = to + 1
	}
	for i, c := range list {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				add(i)
			}
		}
	}
	add(len(list))
	return all
}

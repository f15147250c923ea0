package secrets

// command is how a program takes secrets in its arguments. text is what its command line begins
// with, at least three bytes. takes names the arguments, with blanks between:
//
//	-p        the argument after -p, or the rest of it after -p=
//	-p+       the rest of the argument that begins with -p
//	-p*       either
//	-u:       what is behind the first colon in the argument of -u, before which a user stands; so
//	          with a percent sign, a comma, a slash and an equals sign
//	/user:>   the argument behind the one that begins with /user:
//	2         the second argument that is no flag
//	$         the last argument, of six at most
//	$: 1/     the same with a user before it
//
// Behind a flag, and where an argument stands alone, it must look like a password, since commands
// are quoted in prose. With a user before it, or joined to its flag, only a password can stand
// there.
type command struct{ text, takes string }

// commands lists programs whose manuals have a secret among the arguments: those of Debian's
// packages of clients, of the Windows commands, and of the clients of registries and clouds.
var commands = [...]command{
	// Transfers and remote machines
	{"curl ", "-u: -ku: -su: -sku: -U: --user: --proxy-user:"}, {"http -a ", "1:"}, {"https -a ", "1:"},
	{"lftp ", "-u,"}, {"ncftp ", "-p"}, {"ncftpput ", "-p"}, {"ncftpget ", "-p"},
	{"sshpass ", "-p*"}, {"ssh-keygen ", "-N -P"}, {"rdesktop ", "-p"}, {"xfreerdp ", "/p:+"},
	{"ipmitool ", "-P"}, {"mosquitto_pub ", "-P"}, {"mosquitto_sub ", "-P"}, {"wpa_passphrase ", "2"},
	{"snmpget ", "-A -X"}, {"snmpset ", "-A -X"}, {"snmpwalk ", "-A -X"}, {"snmpbulkwalk ", "-A -X"},
	{"rclone obscure ", "$"}, {"rclone config ", "pass"}, {"mc alias set ", "4"},
	// Windows and its networks
	{"smbclient ", "-U%"}, {"rpcclient ", "-U%"}, {"smbget ", "-U%"}, {"smbcacls ", "-U%"},
	{"winexe ", "-U%"}, {"net rpc ", "-U%"}, {"net ads ", "-U%"}, {"smbmap ", "-p"}, {"nxc ", "-p"},
	{"crackmapexec ", "-p"}, {"evil-winrm ", "-p"}, {"psexec ", "-p"}, {"PsExec ", "-p"},
	{"PSEXEC ", "-p"}, {"psexec.exe ", "-p"}, {"PsExec.exe ", "-p"}, {"PSEXEC.EXE ", "-p"},
	{"net use ", "/user:> 3"}, {"NET USE ", "/user:>"}, {"net user ", "2"}, {"cmdkey ", "/pass:+"},
	{"schtasks ", "/rp"},
	// Directories and databases
	{"ldapsearch ", "-w"}, {"ldapmodify ", "-w"}, {"ldapadd ", "-w"}, {"ldapdelete ", "-w"},
	{"ldapwhoami ", "-w"}, {"ldappasswd ", "-w -s -a"},
	{"mysql ", "-p+"}, {"mysqldump ", "-p+"}, {"mysqladmin ", "-p+"}, {"mysqlimport ", "-p+"},
	{"mysqlshow ", "-p+"}, {"mysqlcheck ", "-p+"}, {"mysqlsh ", "-p+"}, {"mycli ", "-p+"},
	{"mariadb ", "-p+"}, {"mariadb-dump ", "-p+"}, {"mariadb-admin ", "-p+"},
	{"ACL SETUSER ", ">+"}, {"SQL> connect ", "1/"}, {"SQL> conn ", "1/"}, {"CONNECT ", "1/"},
	{"cypher-shell ", "-p"}, {"addauth digest ", "1:"},
	{"mongo ", "-p"}, {"mongosh ", "-p"}, {"mongodump ", "-p"}, {"mongorestore ", "-p"},
	{"mongoimport ", "-p"}, {"mongoexport ", "-p"},
	{"redis-cli ", "-a"}, {"cqlsh ", "-p"}, {"rabbitmqctl add_user ", "2"},
	{"rabbitmqctl change_password ", "2"}, {"sqlcmd ", "-P*"}, {"bcp ", "-P*"}, {"osql ", "-P*"},
	{"sqlplus ", "1/"}, {"sqlldr ", "1/"}, {"expdp ", "1/"}, {"impdp ", "1/"},
	// Networks
	{"snmp-server community ", "1"}, {"tacacs-server key ", "1"}, {"radius-server key ", "1"},
	{"isakmp key ", "1"}, {"-setcookie ", "1"}, {": PSK ", "1"},
	// Registries and clouds
	{"add-mask::", "1"},
	{"login ", "-p"}, {"cargo login ", "$"}, {"wandb login ", "$"}, {"snyk auth ", "$"},
	{"twine upload ", "-p"}, {"nuget push ", "-k"}, {"nuget setapikey ", "1"}, {"pypi-token.", "$"},
	{"http-basic.", "$"}, {"github-oauth.", "$"}, {"bundle config ", "$:"},
	{"config add-authtoken ", "1"}, {"ngrok authtoken ", "1"}, {"cloudflared service install ", "1"},
	{"auth init ", "-t"}, {"vercel ", "-t"}, {"netlify ", "--auth"}, {"altool ", "-p"},
	{"create secret ", "--from-literal="}, {"keyvault secret set ", "--value"},
	{"ssm put-parameter ", "--value"}, {"secretsmanager create-secret ", "--secret-string"},
	{"vault login ", "1"}, {"operator unseal ", "1"}, {"thin:", "1/"},
	// Files that have a password
	{"-passin pass:", "1"}, {"-passout pass:", "1"}, {"-pass pass:", "1"},
	{"SecureString ", "1"},
	{"useradd ", "-p"}, {"usermod ", "-p"}, {"mkpasswd ", "$"}, {"doveadm pw ", "-p"},
	{"doveadm auth test ", "2"}, {"user-secrets set ", "2"}, {"htpasswd ", "$"},
	{"openssl passwd ", "$"}, {"openssl enc ", "-k"}, {"zip ", "-P*"},
	{"unzip ", "-P*"}, {"7z ", "-p+"}, {"7za ", "-p+"}, {"7zr ", "-p+"}, {"rar ", "-hp+ -p+"},
	{"unrar ", "-p+"}, {"steghide ", "-p"}, {"input_pw ", "1"}, {"owner_pw ", "1"}, {"user_pw ", "1"},
	{"security unlock-keychain ", "-p"}, {"security import ", "-P"},
	{"security add-generic-password ", "-w"}, {"security add-internet-password ", "-w"},
}

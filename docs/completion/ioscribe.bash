# bash completion of ioscribe, made by "ioscribe generate completion".
_ioscribe()
{
	local cur=${COMP_WORDS[COMP_CWORD]} cmd=${COMP_WORDS[0]##*/} words=
	if [ "$cmd" = ioscribe ]; then
		if [ "$COMP_CWORD" -eq 1 ] || [[ $COMP_CWORD -eq 2 && ${COMP_WORDS[1]} == help ]]; then
			mapfile -t COMPREPLY < <(compgen -W "run job doctor logdir parse dxt summary convert diff merge export analyze help --help --version" -- "$cur")
			return
		fi
		cmd=${COMP_WORDS[1]}
	fi
	case $cmd in
	run) words="--log --log-dir --exclude --include --no-runtime --quiet --config --records --best-effort --all-types --set --private --verbose --help --version" ;;
	job) words="--job-id --uid --gid --cgroup --match-env --below --pid --nodes --node --attempt --deadline --timeout --no-start --stay --config --last-node --json --quiet --help --version" ;;
	doctor) words="--service --features --help --version" ;;
	logdir) words="--check --layout --years --users --help --version" ;;
	parse | darshan-parser) words="--all --base --file --perf --total --show-incomplete --apmpi --escape --help --version" ;;
	dxt | darshan-dxt-parser) words="--show-incomplete --escape --help --version" ;;
	summary) words="--brief --files --help --version" ;;
	convert | darshan-convert) words="--zlib --bzip2 --uncompressed --level --obfuscate --obfuscate_jobid --obfuscate_uid --obfuscate_exe --obfuscate_names --key --annotate --reset-md --file --force --help --version" ;;
	diff | darshan-diff) words="--help --version" ;;
	merge | darshan-merge) words="--output --force --shared-redux --job-end-time --bzip2 --help --version" ;;
	export) words="--json --json-lines --csv --sqlite --output --table --help --version" ;;
	analyze | darshan-analyzer) words="--jobs --top --quiet --help --version" ;;
	esac
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
	else
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	fi
}
complete -F _ioscribe ioscribe darshan-parser darshan-dxt-parser darshan-convert darshan-diff darshan-merge darshan-analyzer
